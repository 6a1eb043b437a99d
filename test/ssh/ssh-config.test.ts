import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sshConfig } from '../../operator/source/git/ssh-config.ts';
import { parseSshOrigin } from '../../operator/source/network/ssh-origin.ts';

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "ssh config 'x-"))));
afterAll(() => rmSync(folder, { recursive: true }));

/** Returns the settings that ssh itself reads from the text, for a connection as git makes it. */
function asSshReadsIt(origin: string, address: string, ...args: string[]): Map<string, string> {
  const parsed = parseSshOrigin(origin);
  if (!parsed) throw new Error(`${origin} is not an origin over SSH`);
  const file = join(folder, 'ssh_config');
  writeFileSync(file, sshConfig(parsed, address, folder));
  const output = execFileSync('ssh', ['-G', '-F', file, ...args], { encoding: 'utf8' });
  return new Map(
    output
      .split('\n')
      .filter(Boolean)
      .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
  );
}

test("connects to the pinned address with only the repository's key, and sends nothing else", () => {
  const read = asSshReadsIt(
    'ssh://me@git.example.com:2222/x',
    '203.0.113.7',
    '-p',
    '2222',
    'me@git.example.com',
    "git-upload-pack '/x'",
  );
  const expected = {
    hostname: '203.0.113.7',
    hostkeyalias: '[git.example.com]:2222',
    port: '2222',
    user: 'me',
    identityfile: join(folder, 'ssh-privatekey'),
    userknownhostsfile: join(folder, 'known_hosts'),
    globalknownhostsfile: '/dev/null',
    stricthostkeychecking: 'true',
    updatehostkeys: 'false',
    identitiesonly: 'yes',
    identityagent: 'none',
    batchmode: 'yes',
    preferredauthentications: 'publickey',
    connecttimeout: '10',
    forwardagent: 'no',
    forwardx11: 'no',
    clearallforwardings: 'yes',
    permitlocalcommand: 'no',
    requesttty: 'false',
  };
  expect(Object.fromEntries(Object.keys(expected).map((key) => [key, read.get(key)]))).toEqual(expected);
  for (const key of ['proxycommand', 'proxyjump', 'controlpath', 'localcommand']) expect(read.has(key)).toBe(false);
});

test.each([
  ['git@git.example.com:x', '203.0.113.7', { hostkeyalias: 'git.example.com', port: '22', user: 'git' }],
  ['git.example.com:x', '203.0.113.7', { hostkeyalias: 'git.example.com', port: '22', user: 'git' }],
  ['ssh://[2001:db8::1]/x', '2001:db8::1', { hostkeyalias: '2001:db8::1', hostname: '2001:db8::1' }],
])('configures %s at %s', (origin, address, expected) => {
  const read = asSshReadsIt(origin, address, 'git.example.com');
  expect(Object.fromEntries(read)).toMatchObject(expected);
});
