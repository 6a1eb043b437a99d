import { isIPv6 } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { run } from '../../support/run.ts';
import { NODE_CONTAINER } from '../../cluster/kind-cluster.ts';
import { waitFor } from '../../support/wait-for.ts';
import { conditionOf, namespaceOf, pageWith, startHarness, type Harness } from '../harness.ts';
import { fetchedBy, ofService } from '../nodes/nodes.ts';

/** Families of the cluster, such as `IPv4,IPv6`; that of its Services first. */
const families = (process.env['COPPICE_TEST_IP_FAMILIES'] ?? '').split(',');

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness('families');
}, 60_000);

afterAll(() => harness.remove());

const service = (text: string, more: string) => `
    image: node:24-slim
    command: [node, -e, "require('node:http').createServer((_, answer) => answer.end('${text}')).listen(8080)"]
    stop_grace_period: 0s
    ${more}
`;
const files = {
  'compose.yaml': `services:
  front: ${service('front', "ports: ['8080:8080']")}
  back: ${service('back', "expose: ['8080']")}
`,
};

const podsSchema = z.object({
  items: z.array(
    z.looseObject({
      metadata: z.looseObject({ name: z.string() }),
      status: z.looseObject({ podIPs: z.array(z.object({ ip: z.string() })).default([]) }),
    }),
  ),
});

/** Returns the name and all addresses of a service's pod. */
function podOf(namespace: string, name: string): Promise<{ name: string; addresses: string[] }> {
  return waitFor(`the addresses of ${name} in ${namespace}`, 60, async () => {
    const args = ['--namespace', namespace, 'get', 'pods', '--selector', ofService(name), '--output', 'json'];
    const [pod, ...others] = podsSchema.parse(JSON.parse(await harness.kubectl(args))).items;
    if (pod === undefined || others.length > 0 || pod.status.podIPs.length === 0) return undefined;
    return { name: pod.metadata.name, addresses: pod.status.podIPs.map(({ ip }) => ip) };
  });
}

const familyOf = (address: string) => (isIPv6(address) ? 'IPv6' : 'IPv4');
const urlOf = (address: string) => `http://${isIPv6(address) ? `[${address}]` : address}:8080/`;

test('isolates environments by addresses of each family, serves their pages, and wakes them', async () => {
  const url = await harness.push('shop', 'main', files);
  await harness.push('shop', 'other', files);
  const repository = await harness.addRepository('shop', url);
  const ids = [await harness.spawn(repository, 'main'), await harness.spawn(repository, 'other')];
  const [main, other] = await Promise.all(ids.map((id) => harness.built(id)));
  const [own, foreign] = ids.map(namespaceOf);
  if (!main || !other || own === undefined || foreign === undefined) throw new Error('nothing was spawned');

  const [front, back, stranger] = [await podOf(own, 'front'), await podOf(own, 'back'), await podOf(foreign, 'front')];
  expect(back.addresses.map(familyOf)).toEqual(families);
  for (const address of back.addresses) {
    expect(await fetchedBy(harness.kubectl, own, front.name, urlOf(address))).toBe('back');
    expect(await fetchedBy(harness.kubectl, foreign, stranger.name, urlOf(address))).toBeUndefined();
    // Something listens there: the node reaches its own pods.
    const fromNode = ['exec', NODE_CONTAINER, 'curl', '--silent', '--globoff', '--max-time', '5', urlOf(address)];
    expect((await run('docker', fromNode)).trim()).toBe('back');
  }
  await pageWith(main.weburl, 'front');
  await pageWith(other.weburl, 'front');

  const [asleep = ''] = ids;
  expect((await harness.client.send('POST', `/api/environment/${asleep}/sleep`)).status).toBe(202);
  await harness.client.waitForEnvironment(asleep, (one) => conditionOf(one, 'Asleep')?.status === 'True', 60);
  await pageWith(main.weburl, 'front', 60);
}, 600_000);

test('serves the API at an address of each family', async () => {
  const found = await harness.kubectl([
    ...['--namespace', 'coppice-system', 'get', 'service', 'coppice-api'],
    ...['--output', 'jsonpath={.spec.ipFamilies}'],
  ]);
  expect(JSON.parse(found)).toEqual(families);
});
