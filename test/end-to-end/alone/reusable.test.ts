import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { storeNamespace } from '../../../crds/reusable-environment.ts';
import { waitFor } from '../../support/wait-for.ts';
import { conditionOf, namespaceOf, pageWith, startHarness, type Harness } from '../harness.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness('reusable');
}, 60_000);

afterAll(() => harness.remove());

/** Returns a page whose text the seed of its volume has chosen randomly. */
function seededPage(extension: string): Record<string, string> {
  return {
    'compose.yaml': `x-coppice: ${extension}
services:
  web:
    build: app
    ports: ['8080:8080']
    stop_grace_period: 1s
    volumes: ['data:/www']
    x-coppice:
      seed:
        volume: data
        command: [sh, -c, 'echo "drawn: $$(cat /proc/sys/kernel/random/uuid)" > /www/index.html']
volumes:
  data: { x-coppice: { size: 16Mi } }
`,
    'app/Dockerfile': 'FROM busybox:1\nCMD ["httpd", "-f", "-p", "8080", "-h", "/www"]\n',
  };
}

const repositorySchema = z.looseObject({
  reusableEnvironments: z.array(
    z.object({ label: z.string(), buildAt: z.iso.datetime(), from: z.object({ name: z.string() }) }),
  ),
});

const isAt = (type: string, status: string) => (environment: Parameters<typeof conditionOf>[0]) =>
  conditionOf(environment, type)?.status === status;

async function drawn(weburl: string): Promise<string> {
  return /drawn: (\S+)/.exec(await pageWith(weburl, 'drawn: '))?.[1] ?? '';
}

test('publishes an environment, seeds others from it, shows it, and deletes it while it is used', async () => {
  const { client, kubectl, group } = harness;
  const url = await harness.push('shop', 'main', seededPage('{ reusable: base }'));
  await harness.push('shop', 'feature', seededPage('{ from: base, reusable: base }'));
  const repository = await harness.addRepository('shop', url);
  const path = `/api/repository/${repository}`;
  const reusable = [{ label: 'base', refs: [{ name: 'main', type: 'branch' }] }];
  await client.call(z.looseObject({}), 'POST', `${path}/settings`, { reusable });
  const listed = async () => (await client.call(repositorySchema, 'GET', path)).reusableEnvironments;

  const main = await harness.spawn(repository, 'main');
  const published = await client.waitForEnvironment(main, isAt('Published', 'True'), 90);
  expect(published.status).toBe('built');
  const text = await drawn(published.weburl);
  expect(await listed()).toEqual([
    { label: 'base', buildAt: expect.any(String), from: { name: main.slice(group.length + 1) } },
  ]);

  const feature = await harness.spawn(repository, 'feature');
  const { weburl, conditions } = await harness.built(feature);
  expect(conditions).toContainEqual(expect.objectContaining({ type: 'Seeded', status: 'True', reason: 'Copied' }));
  expect(await drawn(weburl)).toBe(text);
  const lines: unknown[] = [];
  for await (const message of client.log(feature)) lines.push(message);
  expect(JSON.stringify(lines)).toContain('unchanged: its image is already in the registry');
  // A ref that the Repository does not name publishes nothing.
  const reported = await client.waitForEnvironment(feature, isAt('Published', 'False'), 20);
  expect(conditionOf(reported, 'Published')?.reason).toBe('RefNotNamed');
  await expectVolumeAtRest(feature);

  expect((await client.send('DELETE', `${path}/reusable/base`)).status).toBe(202);
  expect(await listed()).toEqual([]);
  expect((await client.send('DELETE', `${path}/reusable/base`)).status).toBe(404);
  await waitFor('the published copies to be gone', 30, async () => {
    const claims = await kubectl(['get', 'pvc', '--namespace', storeNamespace(group), '--output', 'name']);
    return claims.trim() === '' ? true : undefined;
  });
  expect(await drawn(weburl)).toBe(text);

  await client.call(z.looseObject({}), 'POST', `/api/environment/${feature}/rebuild`);
  const rebuilt = await client.waitForEnvironment(
    feature,
    (one) => one.status === 'built' && conditionOf(one, 'Seeded')?.reason === 'NotFound',
    90,
  );
  expect(conditionOf(rebuilt, 'Seeded')?.message).toContain('no reusable environment base');
  await waitFor('the text of the rebuilt page', 30, async () => ((await drawn(weburl)) === text ? undefined : true));
}, 180_000);

/** Checks that the moved volume is as its storage class created it: deleted with its claim, and without a label. */
async function expectVolumeAtRest(environmentId: string): Promise<void> {
  const { kubectl } = harness;
  const claim = ['get', 'pvc', 'volume-data', '--namespace', namespaceOf(environmentId)];
  const name = await kubectl([...claim, '--output', 'jsonpath={.spec.volumeName}']);
  const fields = 'jsonpath={.spec.persistentVolumeReclaimPolicy} {.metadata.labels.coppice\\.dev/moving}';
  expect((await kubectl(['get', 'pv', name, '--output', fields])).trim()).toBe('Delete');
}
