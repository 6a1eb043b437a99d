import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '../../support/wait-for.ts';
import { conditionOf } from '../harness.ts';
import { api, apiOf, page, TwoRepositories } from '../two-repositories.ts';

let both: TwoRepositories;

beforeAll(async () => {
  both = await TwoRepositories.start('branches');
}, 120_000);

afterAll(() => both.remove(), 60_000);

test('a new branch of the same name is taken, and the pull request shows which commit each came from', async () => {
  const feature = await both.harness.spawn(both.shopId, 'feature');
  await apiOf(await both.harness.built(feature), 'api 1');
  const commit = await both.pushBackend('feature', api('api 3'));
  await both.harness.sync(both.backendId);
  await apiOf(await both.harness.client.environment(feature), 'api 3');
  await both.waitForCommit(feature, commit);
  expect(await both.includedIn(feature)).toMatchObject([{ branch: 'feature', commit }]);
  const pull = await both.spawnPull(await both.shop.openPull('feature'));
  await apiOf(await both.harness.built(pull), 'api 3');
  expect(await both.includedIn(pull)).toMatchObject([{ branch: 'feature', commit }]);
  const expected = `It includes backend at \`${commit.slice(0, 12)}\` of \` feature \`.`;
  await waitFor(
    'the comment',
    60,
    async () => JSON.stringify(await both.shop.record()).includes(expected) || undefined,
  );
}, 300_000);

test('reports a missing branch, and builds when it is pushed', async () => {
  await both.shop.pushFiles('refs/heads/missing', page('page 2', [{ name: 'backend', alias: 'api' }]));
  const id = await both.harness.spawn(both.shopId, 'missing');
  const stalled = await both.harness.stalled(id);
  expect(conditionOf(stalled, 'Stalled')).toMatchObject({
    reason: 'IncludedBranchNotFound',
    message: expect.stringContaining('backend has no branch missing. Push it there, or name a fallback'),
  });
  expect(await both.includedIn(id)).toEqual([{ id: both.backendId, branches: ['missing'] }]);
  await both.pushBackend('missing', api('api 4'));
  await both.harness.sync(both.backendId);
  await apiOf(await both.harness.built(id), 'api 4');
}, 180_000);

test.each([
  ['a service of one name', [{ name: 'backend' }], 'the host name web is taken twice'],
  ['a repository of no or another group', [{ name: 'elsewhere' }], 'the group has no repository elsewhere'],
  ['an id of another group', [{ name: 'other.backend' }], 'is not the name of a repository of this group'],
  ['the repository itself', [{ name: 'shop' }], 'shop is the repository of the file itself'],
])(
  'refuses %s',
  async (_what, repositories, message) => {
    const branch = `refused-${randomUUID().slice(0, 8)}`;
    await Promise.all([
      both.shop.pushFiles(`refs/heads/${branch}`, page('refused', repositories, [])),
      both.pushBackend(branch, api('refused', 'web')),
    ]);
    const stalled = await both.harness.stalled(await both.harness.spawn(both.shopId, branch));
    expect(conditionOf(stalled, 'Stalled')?.message).toContain(message);
  },
  60_000,
);
