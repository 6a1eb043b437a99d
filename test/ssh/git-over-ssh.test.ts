import { beforeAll, describe, expect, test } from '@jest/globals';
import { afterError } from '../../operator/shared/conditions.ts';
import { errorOf, HOST, MAIN, useSshWorld } from './ssh-world.ts';

const ssh = useSshWorld();

describe('a repository over SSH', () => {
  let commit: string;
  beforeAll(() => void (commit = ssh().bareRepository('shop.git', { 'compose.yaml': 'services: {}\n' })));

  test('waits until its key is accepted, and is then read', async () => {
    const shop = ssh().repository(ssh().urlOf('shop.git'));
    const { hosts, source } = ssh().world();
    const gitHost = await hosts.of(shop);
    const error = await errorOf(gitHost.check());
    const publicKey = await ssh().textOf('ssh-publickey');
    expect(publicKey).toMatch(/^ssh-ed25519 [A-Za-z0-9+/=]+ coppice acme\.shop$/);
    expect(await hosts.sshPublicKey(shop)).toBe(publicKey);
    expect(afterError(error)).toContainEqual({
      type: 'Ready',
      status: 'False',
      reason: 'KeyNotAccepted',
      message: `the Git host does not accept the key. Add this public key there: ${publicKey}`,
    });
    expect(afterError(error)).toContainEqual(expect.objectContaining({ type: 'Stalled', status: 'False' }));

    await ssh().sshd.authorize([publicKey]);
    await expect(gitHost.check()).resolves.toBeDefined();
    const location = { access: gitHost.access, refName: 'refs/heads/main' };
    expect(await source.resolve(location, MAIN)).toBe(commit);
    expect((await source.listRefs(gitHost.access)).branches.get('main')).toBe(commit);
    const read = await source.snapshot(location, ({ files }) => files.read('compose.yaml'));
    expect(read.toString()).toBe('services: {}\n');
  });

  test('is asked for its host keys once, which are then pinned', async () => {
    const shop = ssh().repository(ssh().urlOf('shop.git'));
    await ssh().letIn(shop);
    const { hosts } = ssh().world();
    await (await hosts.of(shop)).check();
    const pinned = await ssh().textOf('known_hosts');
    expect(pinned).toBe(`[${HOST}]:${ssh().sshd.port} ${await ssh().sshd.hostKey()}\n`);
    const before = (await ssh().secrets.get(undefined, { name: 'ssh-shop' })).metadata.resourceVersion;
    await (await hosts.of(shop)).check();
    expect((await ssh().secrets.get(undefined, { name: 'ssh-shop' })).metadata.resourceVersion).toBe(before);
  });

  test('keeps one answer of two simultaneous first connections', async () => {
    const shop = ssh().repository(ssh().urlOf('shop.git'));
    await ssh().letIn(shop);
    const { hosts } = ssh().world();
    await Promise.all([1, 2, 3].map(async () => (await hosts.of(shop)).check()));
    expect((await ssh().textOf('known_hosts')).trim().split('\n')).toHaveLength(1);
  });

  test('is refused when its host shows another key, until somebody confirms it', async () => {
    const shop = ssh().repository(ssh().urlOf('shop.git'));
    await ssh().letIn(shop);
    const { hosts } = ssh().world();
    await (await hosts.of(shop)).check();
    const pinned = await ssh().textOf('known_hosts');
    await ssh().sshd.changeHostKey();

    const error = await errorOf((await hosts.of(shop)).check());
    expect(error).toMatchObject({ name: 'SourceRefusedError', reason: 'HostKeyChanged' });
    expect(error.message).toContain(
      `the SSH host [${HOST}]:${ssh().sshd.port} has a host key other than the known one`,
    );
    expect(error.message).toContain('spec.generic.knownHosts');
    expect(await ssh().textOf('known_hosts')).toBe(pinned);

    const confirmed = ssh().repository(
      ssh().urlOf('shop.git'),
      `[${HOST}]:${ssh().sshd.port} ${await ssh().sshd.hostKey()}`,
    );
    await expect((await hosts.of(confirmed)).check()).resolves.toBeDefined();
    expect(await ssh().textOf('known_hosts')).toBe(pinned);
  });

  test.each([
    '# nothing\n',
    'other.example.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAICUKSf3GCkIWc1l2h2Z4zwDoJA7sYUu+3G5FBC2kVaQg',
  ])('accepts only the given host keys: %j', async (knownHosts) => {
    const shop = ssh().repository(ssh().urlOf('shop.git'), knownHosts);
    await ssh().letIn(shop);
    const error = await errorOf((await ssh().world().hosts.of(shop)).check());
    expect(error).toMatchObject({ reason: 'HostKeyChanged' });
    expect(error.message).toContain(`the SSH host [${HOST}]:${ssh().sshd.port} has a host key`);
    expect(await ssh().textOf('known_hosts')).toBe('');
  });

  test('that moves to another host connects there for the first time', async () => {
    const { hosts } = ssh().world();
    await ssh().letIn(ssh().repository(ssh().urlOf('shop.git')));
    await (await hosts.of(ssh().repository(ssh().urlOf('shop.git')))).check();
    await (await hosts.of(ssh().repository(ssh().urlOf('shop.git').replace(HOST, 'git2.example.com')))).check();
    expect((await ssh().textOf('known_hosts')).split('\n').map((line) => line.split(' ')[0])).toEqual([
      `[${HOST}]:${ssh().sshd.port}`,
      `[git2.example.com]:${ssh().sshd.port}`,
      '',
    ]);
  });

  test('reports a missing repository and a missing ref', async () => {
    await ssh().letIn(ssh().repository(ssh().urlOf('shop.git')));
    const { hosts, source } = ssh().world();
    const missing = await hosts.of(ssh().repository(ssh().urlOf('other.git')));
    expect(await errorOf(missing.check())).toMatchObject({ reason: 'NotFound' });
    const { access } = await hosts.of(ssh().repository(ssh().urlOf('shop.git')));
    const location = { access, refName: 'refs/heads/gone' };
    expect(await errorOf(source.resolve(location, { name: 'gone', type: 'branch' }))).toMatchObject({
      reason: 'RefNotFound',
    });
  });

  test("does not use another Repository's Secret", async () => {
    const shop = ssh().repository(ssh().urlOf('shop.git'));
    await ssh().letIn(shop);
    const successor = { ...shop, metadata: { ...shop.metadata, uid: 'another' } };
    expect(await errorOf(ssh().world().hosts.of(successor))).toMatchObject({ reason: 'SshKeyMissing' });
  });
});
