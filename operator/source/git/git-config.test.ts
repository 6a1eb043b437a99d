import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { gitConfig, partialCloneConfig } from './git-config.ts';

/** Returns the settings that git itself reads from the text. */
function asGitReadsIt(text: string): Map<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'git-config-'));
  try {
    const file = join(folder, 'config');
    writeFileSync(file, text);
    const listed = execFileSync('git', ['config', '--file', file, '--list', '--null'], { encoding: 'utf8' });
    return new Map(
      listed
        .split('\0')
        .filter(Boolean)
        .map((entry) => [entry.slice(0, entry.indexOf('\n')), entry.slice(entry.indexOf('\n') + 1)]),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const pinned = { origin: 'https://git.example.com:8443/x.git', address: '93.184.215.14' };

test('pins the address, follows no redirect, and sends the credentials only to this origin', () => {
  const read = asGitReadsIt(gitConfig(pinned, { username: 'me', password: 'secret' }));
  expect(read.get('http.curloptresolve')).toBe('git.example.com:8443:93.184.215.14');
  expect(read.get('http.followredirects')).toBe('false');
  const basic = Buffer.from('me:secret').toString('base64');
  expect(read.get('http.https://git.example.com:8443/.extraheader')).toBe(`Authorization: Basic ${basic}`);
});

test.each(['quote"d', 'back\\slash', 'new\nline\n[core]\n\tsshCommand = touch x', '# ; comment'])(
  'lets a password such as %j change nothing but the header',
  (password) => {
    const read = asGitReadsIt(gitConfig(pinned, { username: 'me', password }));
    const plain = asGitReadsIt(gitConfig(pinned, { username: 'me', password: 'x' }));
    expect([...read.keys()]).toEqual([...plain.keys()]);
  },
);

describe('over SSH', () => {
  const origin = 'git@git.example.com:acme/shop.git';

  test('runs ssh with its configuration, and speaks nothing else', () => {
    const read = asGitReadsIt(gitConfig({ origin, address: '203.0.113.7' }, undefined, "/a b/it's"));
    expect(read.get('core.sshcommand')).toBe(`ssh -F '/a b/it'\\''s/ssh_config'`);
    expect(read.get('ssh.variant')).toBe('ssh');
    const allowed = [...read].filter(([key]) => /^protocol\.(.*\.)?allow$/.test(key));
    expect(allowed).toEqual([
      ['protocol.allow', 'never'],
      ['protocol.ssh.allow', 'always'],
    ]);
    expect([...read.keys()].filter((key) => key.startsWith('http'))).toEqual([]);
  });

  test('does not permit SSH over HTTP', () => {
    const read = asGitReadsIt(gitConfig(pinned, undefined));
    expect(read.get('protocol.allow')).toBe('never');
    expect(read.has('protocol.ssh.allow')).toBe(false);
    expect(read.has('core.sshcommand')).toBe(false);
  });
});

test.each([
  ['http://h/x', '1.2.3.4', 'h:80:1.2.3.4'],
  ['https://h/x', '2606:50c0:8000::153', 'h:443:[2606:50c0:8000::153]'],
])('configures %s at %s', (origin, address, expected) => {
  expect(asGitReadsIt(gitConfig({ origin, address }, undefined)).get('http.curloptresolve')).toBe(expected);
});

test('makes a partial clone of this origin, whatever its address contains, without checking objects', () => {
  const origin = 'https://git.example.com/a "b" \\c#d;e.git';
  const read = asGitReadsIt(gitConfig(pinned, undefined) + partialCloneConfig(origin));
  expect(read.get('remote.origin.url')).toBe(origin);
  expect(read.get('remote.origin.promisor')).toBe('true');
  expect(read.get('remote.origin.partialclonefilter')).toBe('blob:none');
  expect(read.get('fetch.fsckobjects')).toBe('false');
});
