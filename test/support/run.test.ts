import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { run } from './run.ts';

describe('run', () => {
  it('ends at its deadline, also if another program keeps the output open', async () => {
    const before = Date.now();
    await expect(run('sh', ['-c', 'sleep 5 | cat; true'], { deadline: 0.2 })).rejects.toThrow(
      'did not end within 0.2 s',
    );
    expect(Date.now() - before).toBeLessThan(4000);
  });

  it('is started no more after the programs were ended, of which some are interrupted', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'run-'));
    const module = join(import.meta.dirname, 'run.ts');
    // `go` here is a program that runs longer than this test may; `sh` is not interrupted.
    symlinkSync('/bin/sleep', join(folder, 'go'));
    const script = `
      import { endPrograms, run } from ${JSON.stringify(module)};
      const outcome = (promise) => promise.then((text) => text.trim(), (error) => error.message.split('.')[0]);
      const outcomes = [outcome(run('${folder}/go', ['60'])), outcome(run('sh', ['-c', 'sleep 0.3; echo done']))];
      await endPrograms((names) => console.log('waiting for', names.join()));
      console.log(...await Promise.all([...outcomes, outcome(run('true', []))]));`;
    try {
      const printed = await run(process.execPath, ['--input-type=module', '--eval', script], { deadline: 20 });
      expect(printed.split('\n')).toEqual([
        'waiting for sh',
        `${folder}/go 60: failed (exit code none) done true is not started, because another step failed`,
        '',
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('reports the exit code and the last lines of a failed program', async () => {
    const failing = run('sh', ['-c', 'echo why >&2; exit 3']);
    await expect(failing).rejects.toThrow(/failed \(exit code 3\).*\nwhy$/);
  });
});
