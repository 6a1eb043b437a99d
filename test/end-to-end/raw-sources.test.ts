// What a program gets from a group's buildkitd with the credentials of a build: it asks by raw LLB, as a frontend could.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sourcePolicy } from '../../operator/images/build/source-policy.ts';
import { basicAuthorization, readRegistry, type Registry } from '../cluster/registry.ts';
import { pushRepository } from '../sample/push-repository.ts';
import { namespaceOf, startHarness, type Harness } from './harness.ts';
import { rawSource } from './raw-llb.ts';
import { TestRegistry } from './registry-images.ts';
import { smallPage } from './small-page.ts';

const builders = 'coppice-builders';

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

/** Builds a small page; gives its image. */
async function built(harness: Harness): Promise<string> {
  const url = `${harness.connection.gitUrl}/${harness.group}/shop.git`;
  await pushRepository({ url, branch: 'main', files: smallPage(harness.group) });
  const id = await harness.spawn(await harness.addRepository('shop', url), 'main');
  await harness.built(id);
  const path = 'jsonpath={.spec.template.spec.containers[0].image}';
  const at = ['deployment', 'web', '--namespace', namespaceOf(id)];
  return (await harness.kubectl(['get', ...at, '--output', path])).trim();
}

/** What buildctl says in the attacker's builder of a source, with a build's credentials and its policy or none. */
async function asked(source: Buffer, policy: string | undefined): Promise<string> {
  const name = `group-${attacker.group}`;
  const secret = async (key: string) => {
    const path = `jsonpath={.data.${key.replaceAll('.', '\\.')}}`;
    return attacker.kubectl(['get', 'secret', name, '--namespace', builders, '--output', path]);
  };
  const authorization = basicAuthorization(registry).slice('Basic '.length);
  const files: Record<string, string> = {
    'client.crt': await secret('client.crt'),
    'client.key': await secret('client.key'),
    'config.json': base64(JSON.stringify({ auths: { [registry.address]: { auth: authorization } } })),
    'policy.json': base64(policy ?? '{}'),
    'source.llb': source.toString('base64'),
  };
  const script = [
    'cd "$(mktemp -d)"',
    ...Object.entries(files).map(([file, text]) => `echo ${text} | base64 -d > ${file}`),
    `DOCKER_CONFIG=$PWD buildctl --addr tcp://127.0.0.1:1234 --tlsservername ${name} --tlscacert /etc/buildkit-tls/ca.crt \\`,
    '  --tlscert client.crt --tlskey client.key build --no-cache --source-policy-file policy.json \\',
    '  --output type=local,dest=out < source.llb 2>&1 || true',
    'echo "files: $(ls out 2>/dev/null)"',
  ].join('\n');
  return attacker.kubectl(['exec', '--stdin', name, '--namespace', builders, '--', 'sh', '-s'], { input: script });
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

test("a build's source policy keeps another group's layers from what asks for them by raw LLB", async () => {
  const own = `${registry.address}/${attacker.group}/shop/`;
  const policy = sourcePolicy({
    registry: registry.address,
    ownImages: own,
    untrustedImages: `${own}untrusted/`,
    trusted: true,
    digests: new Map(),
  });
  const blob = `docker-image+blob://${layer}`;
  // The credentials open it: without a policy the attack works.
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
