import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { originSchema } from '../../../crds/repository-source.ts';
import { SourceRefusedError } from '../errors.ts';
import { Source } from '../git/source.ts';
import { formatSshOrigin, hostAlias, parseSshOrigin, portHint } from './ssh-origin.ts';

describe('an SSH origin', () => {
  test.each([
    ['ssh://git@Git.example.com/acme/shop.git', 'git', 'git.example.com', 22, '/acme/shop.git', 'git.example.com'],
    ['ssh://git.example.com:2222/x', 'git', 'git.example.com', 2222, '/x', '[git.example.com]:2222'],
    ['ssh://me@[2001:DB8::1]:2222/~/x', 'me', '2001:db8::1', 2222, '/~/x', '[2001:db8::1]:2222'],
    ['git@git.example.com:acme/shop.git', 'git', 'git.example.com', 22, 'acme/shop.git', 'git.example.com'],
    ['git.example.com:/srv/x', 'git', 'git.example.com', 22, '/srv/x', 'git.example.com'],
  ])('%s', (text, user, host, port, path, alias) => {
    const origin = parseSshOrigin(text);
    expect(originSchema.safeParse(text).success).toBe(true);
    expect(origin).toMatchObject({ user, host, port, path });
    expect(origin && hostAlias(origin)).toBe(alias);
    expect(origin && parseSshOrigin(formatSshOrigin(origin))).toEqual(origin);
  });

  test.each(['https://git.example.com/x', 'http://git@git.example.com:22/x', 'x:', '/srv/x', './x', 'x'])(
    'is not read from %s',
    (text) => {
      expect(parseSshOrigin(text)).toBeUndefined();
    },
  );
});

test.each([
  ['git.example.com:8080/acme/shop.git', /Git reads 8080 as a part of the path.*https:/],
  ['git@git.example.com:2222/shop.git', /2222/],
  ['git@git.example.com:acme/shop.git', /^$/],
  ['git@git.example.com:2024-plans/shop.git', /^$/],
  ['ssh://git@git.example.com:2222/8080/shop.git', /^$/],
])('explains that %s names no port', (text, expected) => {
  const origin = parseSshOrigin(text);
  expect(origin && portHint(origin)).toMatch(expected);
});

describe('an origin that would be an option or a command', () => {
  let folder: string;
  beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'hostile-'))));
  afterAll(() => rmSync(folder, { recursive: true }));

  const hostile = [
    '-oProxyCommand=touch MARKER',
    '--upload-pack=touch MARKER',
    'ssh://-oProxyCommand=touch%20MARKER/x',
    'ssh://-oProxyCommand=x@git.example.com/x',
    'ssh://git@-oProxyCommand=x/x',
    'ssh://git@-host/x',
    'ssh://git@git.example.com:-1/x',
    'ssh://git@git.example.com:22 -oProxyCommand=x/x',
    'ssh://git:password@git.example.com/x',
    'ssh://git@git.example.com\n-oProxyCommand=x/x',
    'ssh://git@git.example.com/x\nHost *',
    'ssh://git@git.example.com/x\u0000y',
    'git@-oProxyCommand=x:x',
    'git@-host:x',
    '-l@git.example.com:x',
    'git@git.example.com:-x',
    'git@git.example.com:--upload-pack=x',
    'git@git.example.com:/-x',
    'git@git.example.com:x y',
    'ext::sh -c touch% MARKER',
    'ext::touch',
    'fd::0',
    'file:///MARKER',
    '/etc',
    '../x',
    'git://git.example.com/x',
    'ftp://git.example.com/x',
    'git+ssh://git@git.example.com/x',
    'ssh+git://git@git.example.com/x',
    '[git.example.com]:x',
  ];

  test.each(hostile)('is refused before git, ssh or a lookup is started: %j', async (given) => {
    const marker = join(folder, 'marker');
    const origin = given.replace('MARKER', marker);
    const refused = () => Promise.reject(new Error('looked up'));
    const source = new Source({
      scratch: folder,
      isAddressAllowed: () => true,
      ports: [80, 443],
      sshPorts: [22],
      timeoutMs: 5000,
      lookup: refused,
    });
    const ssh = { privateKey: '', publicKey: '', knownHosts: refused };
    await expect(source.check({ origin, credentials: undefined, ssh })).rejects.toThrow(SourceRefusedError);
    expect(existsSync(marker)).toBe(false);
  });

  test.each(hostile)('is refused by the API and the schema too, or is harmless: %j', (given) => {
    // The table above refuses what the schema accepts.
    const passes = originSchema.safeParse(given).success;
    expect(passes && parseSshOrigin(given) !== undefined).toBe(false);
  });

  test.each(['ext::sh -c true', 'file:///', '/', 'git://127.0.0.1/x'])(
    'is refused by git itself as configured: %s',
    async (url) => {
      const { gitConfig } = await import('../git/git-config.ts');
      const { withGit } = await import('../git/git.ts');
      const repository = join(folder, 'repository');
      execFileSync('git', ['init', '--quiet', '--bare', repository]);
      for (const origin of ['https://git.example.com/x', 'git@git.example.com:x']) {
        const files = (at: string) => ({ gitconfig: gitConfig({ origin, address: '127.0.0.1' }, undefined, at) });
        const run = withGit(
          { scratch: folder, files, flow: { tenant: 'x', group: 'x', host: 'x' }, timeoutMs: 10_000 },
          (git) => git.run(['ls-remote', '--', url === '/' ? repository : url]),
        );
        await expect(run).rejects.toThrow(/transport '\w+' not allowed/);
      }
    },
  );
});
