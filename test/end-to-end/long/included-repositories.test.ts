import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { logOf } from '../fixtures.ts';
import { conditionOf, namespaceOf, pageWith } from '../harness.ts';
import { api, apiOf, CREDENTIALS, page, SECRET_WORD, TwoRepositories } from '../two-repositories.ts';

let both: TwoRepositories;
let feature: string;

beforeAll(async () => {
  both = await TwoRepositories.start('repositories');
}, 120_000);

afterAll(() => both.remove(), 60_000);

const objectSchema = z.object({ metadata: z.object({ generation: z.number(), uid: z.string() }) });

/** Returns what identifies the state of a service's Deployment, without its status. */
async function deploymentOf(id: string, service: string) {
  const args = ['get', 'deployment', service, '--namespace', namespaceOf(id), '--output', 'json'];
  return objectSchema.parse(JSON.parse(await both.harness.kubectl(args))).metadata;
}

test('runs the services of both, each with its own variables, at the branch of the name or the fallback', async () => {
  feature = await both.harness.spawn(both.shopId, 'feature');
  const built = await both.harness.built(feature);
  await pageWith(built.weburl, 'page 1');
  expect(await apiOf(built, 'api 1')).toContain(`word: ${SECRET_WORD}`);
  expect(await both.includedIn(feature)).toMatchObject([
    { id: both.backendId, branch: 'main', branches: ['feature', 'main'], services: ['api'] },
  ]);
  const log = await logOf(both.harness, feature);
  expect(log).toContain('cloning backend, refs/heads/main at');
  for (const word of [SECRET_WORD, CREDENTIALS.password]) expect(log).not.toContain(word);
  // What the clones needed is gone with the build.
  const secrets = await both.harness.kubectl([
    'get',
    'secrets',
    '--namespace',
    namespaceOf(feature),
    '--output',
    'name',
  ]);
  expect(secrets).not.toContain('build-source');
  const claims = await both.harness.kubectl(['get', 'pvc', '--namespace', namespaceOf(feature), '--output', 'name']);
  expect(claims).toContain('volume-backend-data');
}, 180_000);

test('a push to the included repository builds and restarts only what it changed', async () => {
  const before = [await deploymentOf(feature, 'api'), await deploymentOf(feature, 'web')];
  const commit = await both.pushBackend('main', api('api 2'));
  await both.harness.sync(both.backendId);
  await apiOf(await both.harness.client.environment(feature), 'api 2');
  await both.waitForCommit(feature, commit);
  await both.harness.client.waitForEnvironment(feature, ({ build }) => build?.result === 'succeeded', 60);
  const after = [await deploymentOf(feature, 'api'), await deploymentOf(feature, 'web')];
  expect(after[0]?.generation).toBeGreaterThan(before[0]?.generation ?? 0);
  expect(after[1]).toEqual(before[1]);
  const log = await logOf(both.harness, feature);
  expect(log).toContain(`cloning backend, refs/heads/main at ${commit}`);
  expect(log).not.toContain('cloning refs/heads/feature');
  expect(await both.includedIn(feature)).toMatchObject([{ branch: 'main', commit }]);
}, 180_000);

test("a fork's pull request includes nothing that does not permit it, and then gets no variables", async () => {
  const id = await both.spawnPull(await both.shop.openForkPullWith(page('fork')));
  const stalled = await both.harness.stalled(id);
  expect(conditionOf(stalled, 'Stalled')?.message).toContain(
    'the group has no repository backend that environments of forks can include',
  );
  expect(await both.includedIn(id)).toEqual([{ id: both.backendId, branches: [] }]);
  const settings = { forks: { canInclude: true } };
  await both.harness.client.call(z.unknown(), 'POST', `/api/repository/${both.backendId}/settings`, settings);
  await both.harness.client.call(z.unknown(), 'POST', `/api/environment/${id}/build`, {});
  const built = await both.harness.built(id);
  await pageWith(built.weburl, 'fork');
  // At the fallback, although the fork's branch could have any name.
  expect(await apiOf(built, 'api 2')).toContain('word: none');
  const kept = await both.harness.kubectl([
    'get',
    'secrets,configmaps',
    '--namespace',
    namespaceOf(id),
    '--output',
    'json',
  ]);
  for (const word of [SECRET_WORD, CREDENTIALS.password]) {
    expect(kept).not.toContain(word);
    expect(kept).not.toContain(Buffer.from(word).toString('base64').slice(0, -4));
  }
}, 240_000);
