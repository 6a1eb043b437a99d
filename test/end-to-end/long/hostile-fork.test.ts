import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { waitFor } from '../../support/wait-for.ts';
import { pushRepository } from '../../sample/push-repository.ts';
import { logOf } from '../fixtures.ts';
import { conditionOf, pageWith, type Harness } from '../harness.ts';
import { HostileWorld } from '../hostile-world.ts';
import { pushPullRequest } from '../push-pull-request.ts';
import { pageSchema } from '../spying-page.ts';

let world: HostileWorld;
let harness: Harness;
let origin: string;
let main: string;
let fork: string;

beforeAll(async () => {
  world = await HostileWorld.start('hostile');
  ({ harness } = world);
  origin = `${harness.connection.gitUrl}/${harness.group}/shop.git`;
  await pushRepository({ url: origin, branch: 'main', files: world.page });
  await world.addRepository({ type: 'generic', params: { origin } });
  // The branch and the pull request have the same commit: nothing cached for the branch may reach the fork's build.
  await pushPullRequest(origin, 'main', 7);
}, 60_000);

afterAll(() => harness.remove(), 120_000);

test("gives a fork's pull request nothing that a branch of the same commit gets", async () => {
  [main, fork] = await Promise.all([harness.spawn(world.repository, 'main'), world.spawnPullRequest(7)]);
  const [ofMain, ofFork] = await Promise.all([harness.built(main), harness.built(fork)]);

  // Proves that the secrets, which the fork must not find, exist.
  const mainPage = await pageWith(ofMain.weburl, '"running"');
  expect(world.found(mainPage)).toEqual(['run', 'build', 'token']);
  const { build } = pageSchema.parse(JSON.parse(mainPage));
  const { token } = world.secrets;
  expect([build.secrets, build.cache]).toMatchObject([{ token }, { marker: token }]);
  expect(world.found(await world.kept(main))).toEqual(['run', 'build', 'token', 'pull']);

  const forkPage = await pageWith(ofFork.weburl, '"running"');
  const log = await logOf(harness, fork);
  expect(log).toContain('serviceAccount');
  await world.expectNothing(fork, forkPage, log);

  expect(conditionOf(ofFork, 'Trusted')).toMatchObject({ status: 'False', reason: 'Unknown' });
  expect(conditionOf(ofMain, 'Trusted')).toBeUndefined();
  // The fork is neither seeded from the reusable environment, nor can it publish a new one.
  const reported = await harness.client.waitForEnvironment(
    fork,
    (one) => conditionOf(one, 'Published') !== undefined,
    20,
  );
  for (const type of ['Seeded', 'Published']) {
    expect([type, conditionOf(reported, type)]).toMatchObject([type, { status: 'False', reason: 'NotTrusted' }]);
  }
  expect(await world.imageOf(main)).toContain('/shop/web@');
  expect(await world.imageOf(fork)).toContain('/shop/untrusted/web@');
}, 300_000);

test('does not let its build start from an image that a branch has built', async () => {
  const dockerfile = `FROM ${await world.imageOf(main)}\nRUN cat build.json\n`;
  await pushRepository({
    url: origin,
    branch: 'thief',
    files: { ...world.page, Dockerfile: dockerfile },
  });
  await pushPullRequest(origin, 'thief', 8);
  const thief = await world.spawnPullRequest(8);
  const stalled = await harness.stalled(thief);
  expect(stalled.build).toMatchObject({ result: 'failed' });
  const log = await logOf(harness, thief);
  expect(log).toMatch(/not allowed by policy|denied by policy/);
  expect(world.found(`${log}${JSON.stringify(stalled)}${await world.kept(thief)}`)).toEqual([]);
}, 300_000);

test('gives it everything from the next build on where forks are trusted, and removes it when they no longer are', async () => {
  await world.patchRepository({ trustForks: true });
  const trusted = await harness.client.waitForEnvironment(
    fork,
    (one) => conditionOf(one, 'Trusted')?.status === 'True',
    20,
  );
  expect(conditionOf(trusted, 'Trusted')).toMatchObject({ reason: 'TrustForks' });
  expect(world.found(await pageWith(trusted.weburl, '"running"'))).toEqual([]);
  await harness.client.call(z.unknown(), 'POST', `/api/environment/${fork}/build`, {});
  await pageWith(trusted.weburl, world.secrets.run, 60);
  await harness.built(fork);

  await world.patchRepository({ trustForks: false });
  // The page alone does not show that a build has ended: the pod of the build before can still answer.
  await harness.client.waitForEnvironment(fork, (one) => conditionOf(one, 'Trusted')?.status === 'False', 60);
  await waitFor('the page without what it was trusted with', 60, async () =>
    world.found(await pageWith(trusted.weburl, '"running"')).length === 0 ? true : undefined,
  );
  await harness.built(fork);
  expect(await world.imageOf(fork)).toContain('/untrusted/');
}, 300_000);
