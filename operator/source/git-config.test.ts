import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { gitConfig } from './git-config.ts';

/** What git itself reads out of the text. */
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

test('pins the address, follows no redirect, and sends the credentials to this origin alone', () => {
  const read = asGitReadsIt(gitConfig(pinned, { username: 'me', password: 'secret' }));
  expect(read.get('http.curloptresolve')).toBe('git.example.com:8443:93.184.215.14');
  expect(read.get('http.followredirects')).toBe('false');
  const basic = Buffer.from('me:secret').toString('base64');
  expect(read.get('http.https://git.example.com:8443/.extraheader')).toBe(`Authorization: Basic ${basic}`);
});

test.each(['quote"d', 'back\\slash', 'new\nline\n[core]\n\tsshCommand = touch x', '# ; comment'])(
  'a password such as %j changes nothing but the header',
  (password) => {
    const read = asGitReadsIt(gitConfig(pinned, { username: 'me', password }));
    const plain = asGitReadsIt(gitConfig(pinned, { username: 'me', password: 'x' }));
    expect([...read.keys()]).toEqual([...plain.keys()]);
  },
);

test.each([
  ['http://h/x', '1.2.3.4', 'h:80:1.2.3.4'],
  ['https://h/x', '2606:50c0:8000::153', 'h:443:[2606:50c0:8000::153]'],
])('%s at %s', (origin, address, expected) => {
  expect(asGitReadsIt(gitConfig({ origin, address }, undefined)).get('http.curloptresolve')).toBe(expected);
});
