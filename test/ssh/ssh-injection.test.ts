import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { errorOf, HOST, MAIN, useSshWorld } from './ssh-world.ts';

const ssh = useSshWorld();

describe('a ref name that would be an option or a command does not exist', () => {
  beforeAll(() => void ssh().bareRepository('refs.git', { 'README.md': '' }));

  test.each([
    '--upload-pack=touch MARKER',
    '-u touch MARKER',
    '-oProxyCommand=touch MARKER',
    '--exec=touch MARKER',
    'refs/heads/$(touch MARKER)',
    'refs/heads/`touch MARKER`',
    "refs/heads/';touch MARKER;'",
    'refs/heads/-x',
    'ext::touch MARKER',
  ])('%s', async (given) => {
    const marker = join(ssh().scratch, 'marker');
    const shop = await ssh().known(ssh().urlOf('refs.git'));
    await ssh().letIn(shop);
    const { hosts, source } = ssh().world();
    const { access } = await hosts.of(shop);
    const location = { access, refName: given.replace('MARKER', marker) };
    await expect(source.resolve(location, MAIN)).rejects.toMatchObject({ reason: 'RefNotFound' });
    await expect(source.snapshot(location, () => Promise.resolve())).rejects.toThrow();
    expect(existsSync(marker)).toBe(false);
  });

  test.each(["/x';touch MARKER;'", '/$(touch${IFS}MARKER)', '/x;touch${IFS}MARKER', '/x|touch${IFS}MARKER'])(
    'nor does a path such as %s',
    async (path) => {
      const marker = join(ssh().scratch, 'marker');
      const origin = `ssh://${ssh().sshd.user}@${HOST}:${ssh().sshd.port}${path.replace('MARKER', marker).replaceAll(' ', '%20')}`;
      const shop = await ssh().known(origin);
      await ssh().letIn(shop);
      const error = await errorOf((await ssh().world().hosts.of(shop)).check());
      expect(error).toMatchObject({ name: 'SourceRefusedError', reason: 'NotFound' });
      expect(existsSync(marker)).toBe(false);
    },
  );
});
