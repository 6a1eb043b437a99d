import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { KINDS } from '../../git-hosts/kind.ts';
import { logOf } from '../fixtures.ts';
import { conditionOf, pageWith, type Harness } from '../harness.ts';
import { HostileWorld } from '../hostile-world.ts';
import { makeHosted, type HostedRepository } from '../test-hosts.ts';

/** Attacks by the owner of a fork, and by whoever takes over a repository's name, at the emulated hosts. */
describe.each(KINDS)('%s', (kind) => {
  let world: HostileWorld;
  let harness: Harness;
  let host: HostedRepository;
  let main: string;
  let fork: string;
  let number: number;

  beforeAll(async () => {
    world = await HostileWorld.start(kind);
    ({ harness } = world);
    host = await makeHosted(kind, harness.group);
    await host.pushFiles('refs/heads/main', world.page);
    await host.pushFiles('refs/heads/release', world.page);
    await world.addRepository({ type: kind, params: host.params });
    number = await host.openForkPullWith(world.page);
  }, 60_000);

  afterAll(async () => {
    await harness.remove();
    await host.remove();
  }, 120_000);

  const build = (id: string) => harness.client.call(z.unknown(), 'POST', `/api/environment/${id}/build`, {});

  async function expectUntrusted(): Promise<void> {
    const built = await harness.built(fork);
    const page = await pageWith(built.weburl, '"running"');
    await world.expectNothing(fork, page, await logOf(harness, fork));
    expect(conditionOf(built, 'Trusted')).toMatchObject({ status: 'False', reason: 'Fork' });
    expect(await world.imageOf(fork)).toContain('/shop/untrusted/web@');
  }

  test("gives a fork's pull request nothing that a branch with the same files gets", async () => {
    [main, fork] = await Promise.all([harness.spawn(world.repository, 'main'), world.spawnPullRequest(number)]);
    const ofMain = await harness.built(main);
    expect(world.found(await pageWith(ofMain.weburl, '"running"'))).toEqual(['run', 'build', 'token']);
    await expectUntrusted();
    const reported = await harness.client.waitForEnvironment(
      fork,
      (one) => conditionOf(one, 'Published') !== undefined,
      20,
    );
    for (const type of ['Seeded', 'Published']) {
      expect([type, conditionOf(reported, type)]).toMatchObject([type, { status: 'False', reason: 'NotTrusted' }]);
    }
  }, 300_000);

  test('gives it nothing for another branch either', async () => {
    await host.retarget(number, 'release');
    await build(fork);
    await expectUntrusted();
  }, 300_000);

  test('builds neither a branch nor a pull request of a repository that took the name', async () => {
    const former = await harness.client.environment(main);
    await host.takeOver({ ...world.page, 'new.txt': 'of a stranger' }, number);
    for (const id of [main, fork]) {
      await build(id);
      const stalled = await harness.stalled(id);
      expect(conditionOf(stalled, 'Built')).toMatchObject({ status: 'False', reason: 'RepositoryReplaced' });
      expect(stalled.build?.result).toBe('failed');
    }
    expect(world.found(`${await logOf(harness, fork)}${await world.kept(fork)}`)).toEqual([]);
    expect(world.found(await pageWith(former.weburl, '"running"'))).toEqual(['run', 'build', 'token']);
    expect(await world.imageOf(fork)).toContain('/shop/untrusted/web@');
  }, 120_000);
});
