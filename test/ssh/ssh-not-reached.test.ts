import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { addressGuard } from '../../operator/source/network/addresses.ts';
import { errorOf, HOST, useSshWorld } from './ssh-world.ts';

const ssh = useSshWorld();

describe('nothing is reached', () => {
  beforeAll(() => void ssh().bareRepository('fenced.git', { 'README.md': '' }));

  test.each([
    ['where the address is private', { isAddressAllowed: addressGuard([]) }, 'sources.allowedCidrs'],
    ['at a port that is not permitted for SSH', { sshPorts: [22] }, 'sources.sshPorts'],
  ])('%s', async (_where, options, word) => {
    const before = ssh().sshd.log();
    const gitHost = await ssh()
      .world(options)
      .hosts.of(ssh().repository(ssh().urlOf('fenced.git')));
    const error = await errorOf(gitHost.check());
    expect(error).toMatchObject({ reason: 'AddressRefused', message: expect.stringContaining(word) });
    expect(ssh().sshd.log()).toBe(before);
  });

  test('if nobody listens', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.on('listening', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const { hosts } = ssh().world({ sshPorts: [port] });
    const gitHost = await hosts.of(ssh().repository(`ssh://git@${HOST}:${port}/x`));
    const error = await errorOf(gitHost.check());
    expect(error).toMatchObject({ name: 'SourceUnreachableError' });
    expect(error.message).toBe(`no SSH server answered at ${HOST}, port ${port}`);
    const knownHost = ssh().repository(
      `ssh://git@${HOST}:${port}/x`,
      `[${HOST}]:${port} ${await ssh().sshd.hostKey()}`,
    );
    const later = await errorOf((await hosts.of(knownHost)).check());
    expect(later.message).toMatch(
      /^the Git host did not respond: connect to host 127\.0\.0\.1 port \d+: Connection refused/,
    );
  });

  test('at a silent host, which is given up after its time, without the key in any process', async () => {
    const held: { destroy: () => void }[] = [];
    const server = createServer((socket) => held.push(socket)).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.on('listening', resolve));
    const { port } = server.address() as AddressInfo;
    try {
      const silent = ssh().repository(`ssh://git@${HOST}:${port}/x`, `[${HOST}]:${port} ${await ssh().sshd.hostKey()}`);
      const { hosts } = ssh().world({ sshPorts: [port], timeoutMs: 2000 });
      const checking = errorOf((await hosts.of(silent)).check());
      await new Promise((resolve) => setTimeout(resolve, 1000));
      const processes = processTexts();
      expect(processes.filter((text) => text.includes('ssh_config') && text.includes(ssh().scratch))).not.toEqual([]);
      const secretLines = (await ssh().textOf('ssh-privatekey')).split('\n').filter((line) => line.length > 60);
      expect(secretLines.length).toBeGreaterThan(1);
      for (const line of secretLines) expect(processes.filter((text) => text.includes(line))).toEqual([]);
      expect((await checking).message).toMatch(/did not respond/);
      expect(processTexts().filter((text) => text.includes(ssh().scratch))).toEqual([]);
    } finally {
      for (const socket of held) socket.destroy();
      server.close();
    }
  });
});

/** Returns the arguments and environment of every process that this user can read. */
function processTexts(): string[] {
  const pids = execFileSync('ls', ['/proc'], { encoding: 'utf8' })
    .split('\n')
    .filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    if (Number(pid) === process.pid) return [];
    try {
      return [readFileSync(`/proc/${pid}/cmdline`, 'utf8'), readFileSync(`/proc/${pid}/environ`, 'utf8')];
    } catch {
      // The process has ended, or belongs to another user.
      return [];
    }
  });
}
