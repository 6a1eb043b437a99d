import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { run } from '../../support/run.ts';
import { waitFor } from '../../support/wait-for.ts';
import { namespaceOf, pageWith, startHarness, type Harness } from '../harness.ts';
import { fetchedBy, moveTo, twoWorkers } from './nodes.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness('spread');
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

test('services of an environment reach each other over nodes, and those of other environments do not', async () => {
  const { kubectl } = harness;
  const [here, there] = await twoWorkers();
  const url = await harness.push('shop', 'main', files);
  await harness.push('shop', 'other', files);
  const repository = await harness.addRepository('shop', url);
  const ids = [await harness.spawn(repository, 'main'), await harness.spawn(repository, 'other')];
  const [main, other] = await Promise.all(ids.map((id) => harness.built(id)));
  const [own, foreign] = ids.map(namespaceOf);
  if (!main || !other || own === undefined || foreign === undefined) throw new Error('nothing was spawned');

  const front = await moveTo(kubectl, here, own, 'front');
  const back = await moveTo(kubectl, there, own, 'back');
  const address = `http://${back.address}:8080/`;
  // Each node learns the pod's address from the API server.
  await waitFor('front to reach back', 120, async () => {
    return (await fetchedBy(kubectl, own, front.name, 'http://back:8080/')) === 'back' ? true : undefined;
  });
  // The Ingress controller runs on a third node.
  await pageWith(main.weburl, 'front');

  for (const node of [here, there]) {
    const stranger = await moveTo(kubectl, node, foreign, 'front');
    expect(stranger.node).toBe(node);
    expect(await fetchedBy(kubectl, foreign, stranger.name, address)).toBeUndefined();
  }
  // Something listens there: the pod's own node reaches it, and other nodes do not.
  expect((await run('docker', ['exec', there, 'curl', '--silent', '--max-time', '5', address])).trim()).toBe('back');
  await expect(run('docker', ['exec', here, 'curl', '--silent', '--max-time', '3', address])).rejects.toThrow();
}, 600_000);
