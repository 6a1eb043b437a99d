// What a program gets from a group's buildkitd with the credentials of a build by raw LLB, as a frontend could send
// it.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sourcePolicy } from '../../../operator/images/build/allowed-image-sources.ts';
import { basicAuthorization, readRegistry, type Registry } from '../../cluster/registries/registry.ts';
import { pushRepository } from '../../sample/push-repository.ts';
import { askBuildkitd } from '../ask-buildkitd.ts';
import { namespaceOf, startHarness, type Harness } from '../harness.ts';
import { rawSource } from '../raw-llb.ts';
import { TestRegistry } from '../registry-images.ts';
import { registryToken } from '../registry-token.ts';
import { smallPage } from '../small-page.ts';

let victim: Harness;
let attacker: Harness;
let registry: Registry;
/** The victim's newest layer, `ADDRESS/PATH@DIGEST`. */
let layer: string;

beforeAll(async () => {
  const found = readRegistry();
  if (!found) throw new Error('there is no .local/registry.json: start the cluster with `npm run up`');
  registry = found;
  [victim, attacker] = await Promise.all([startHarness('raw-victim'), startHarness('raw-attacker')]);
  const [ofVictim] = await Promise.all([built(victim), built(attacker)]);
  const [manifest = ''] = await new TestRegistry().contents(ofVictim);
  const digest = /.*"digest":\s*"(sha256:[0-9a-f]{64})"/s.exec(manifest)?.[1] ?? '';
  layer = `${ofVictim.split('@')[0] ?? ''}@${digest}`;
}, 300_000);

afterAll(() => Promise.all([victim.remove(), attacker.remove()]), 60_000);

/** Builds a small page; returns its image. */
async function built(harness: Harness): Promise<string> {
  const url = `${harness.connection.gitUrl}/${harness.group}/shop.git`;
  await pushRepository({ url, branch: 'main', files: smallPage(harness.group) });
  const id = await harness.spawn(await harness.addRepository('shop', url), 'main');
  await harness.built(id);
  const path = 'jsonpath={.spec.template.spec.containers[0].image}';
  const at = ['deployment', 'web', '--namespace', namespaceOf(id)];
  return (await harness.kubectl(['get', ...at, '--output', path])).trim();
}

/**
 * Requests a source in the attacker's builder, with a token that reaches the victim's image. A builder does not reach the
 * token server.
 */
async function asked(source: Buffer, sourcePolicy: string | undefined): Promise<string> {
  const scope = `repository:${victim.group}/shop/web:pull`;
  const token = await registryToken(victim.connection.ingressUrl, basicAuthorization(registry), [scope]);
  const dockerConfig = JSON.stringify({ auths: { [registry.address]: { registrytoken: token } } });
  return askBuildkitd(attacker.kubectl, {
    from: { builder: `group-${attacker.group}` },
    dockerConfig,
    source,
    ...(sourcePolicy !== undefined && { sourcePolicy }),
  });
}

test("denies another group's layers to raw LLB by the build's source policy", async () => {
  const own = `${registry.address}/${attacker.group}/shop/`;
  const policy = sourcePolicy({
    registry: registry.address,
    ownImages: own,
    untrustedImages: `${own}untrusted/`,
    trusted: true,
    digests: new Map(),
  });
  const blob = `docker-image+blob://${layer}`;
  // The credentials permit it: without a policy the attack succeeds.
  expect(await asked(rawSource(blob), undefined)).toContain(`files: ${layer.split(':').at(-1) ?? ''}`);
  const bundle = { 'git.checksum': '1'.repeat(40), 'git.bundle': blob };
  for (const source of [
    rawSource(blob),
    rawSource(`docker-image://${layer.split('@')[0] ?? ''}:latest`),
    rawSource(`http://${registry.address}/v2/`),
    rawSource('git://github.com/acme/shop.git', bundle),
  ]) {
    const answer = await asked(source, policy);
    expect(answer).toContain('denied by policy');
    expect(answer).toMatch(/files: $/m);
  }
}, 120_000);
