import { describe, expect, it } from '@jest/globals';
import { endPrograms, run } from './run.ts';

describe('run', () => {
  it('ends at its deadline, also if another program keeps the output open', async () => {
    const before = Date.now();
    await expect(run('sh', ['-c', 'sleep 5 | cat; true'], { deadline: 0.2 })).rejects.toThrow(
      'did not end within 0.2 s',
    );
    expect(Date.now() - before).toBeLessThan(4000);
  });

  it('is ended with all running programs', async () => {
    const ended = Promise.allSettled([run('sleep', ['30']), run('sleep', ['30'])]);
    await endPrograms();
    expect((await ended).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  it('reports the exit code and the last lines of a failed program', async () => {
    const failing = run('sh', ['-c', 'echo why >&2; exit 3']);
    await expect(failing).rejects.toThrow(/failed \(exit code 3\).*\nwhy$/);
  });
});
