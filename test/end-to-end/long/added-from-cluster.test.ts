import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pushRepository } from '../../sample/push-repository.ts';
import { addingPage } from '../attacking-page.ts';
import { logOf } from '../fixtures.ts';
import { namespaceOf, startHarness, type Harness } from '../harness.ts';
import { smallPage } from '../small-page.ts';

let harness: Harness;
let other: Harness;
let url: string;

async function push(one: Harness, name: string, files: Record<string, string>): Promise<string> {
  const origin = `${one.connection.gitUrl}/${one.group}/${name}.git`;
  await pushRepository({ url: origin, branch: 'main', files });
  return one.addRepository(name, origin);
}

beforeAll(async () => {
  [harness, other] = await Promise.all([startHarness('adder'), startHarness('victim')]);
  const victim = await other.spawn(await push(other, 'victim', smallPage('victim')), 'main');
  await other.built(victim);
  const address = 'jsonpath={.spec.clusterIP}:{.spec.ports[0].port}';
  url = `http://${await other.kubectl(['get', 'service', 'web', '--namespace', namespaceOf(victim), '--output', address])}/`;
}, 240_000);

afterAll(async () => {
  await Promise.all([harness.remove(), other.remove()]);
}, 60_000);

// buildkitd fetches what ADD names, with the network of its pod, as build steps have it (../isolation.test.ts). It tries for
// two minutes.
test('ADD does not reach an environment of another group', async () => {
  const id = await harness.spawn(await push(harness, 'attack', addingPage(url)), 'main');
  await harness.stalled(id);
  expect(await logOf(harness, id)).toMatch(/dial tcp [\d.:]+: i\/o timeout/);
}, 420_000);
