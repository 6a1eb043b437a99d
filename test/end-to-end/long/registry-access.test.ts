// What the registry's credentials of builds and environments reach: the images of one repository, and nothing else (ADR 42).
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { send } from '../../client/local-http.ts';
import { IMAGES_HOST_ADDRESS } from '../../cluster/registries/registry.ts';
import { waitFor } from '../../support/wait-for.ts';
import { pushRepository } from '../../sample/push-repository.ts';
import { askBuildkitd, type BuildPod } from '../ask-buildkitd.ts';
import { logOf } from '../fixtures.ts';
import { namespaceOf, startHarness, type Harness } from '../harness.ts';
import { pushPullRequest } from '../push-pull-request.ts';
import { rawSource } from '../raw-llb.ts';
import { TestRegistry } from '../registry-images.ts';
import { registryToken } from '../registry-token.ts';
import { smallPage } from '../small-page.ts';

/** A credential, and the pod that builds with it. */
interface Build {
  environment: string;
  pod: BuildPod;
  dockerConfig: string;
}

let victim: Harness;
let attacker: Harness;
let address: string;
/** `ADDRESS/GROUP/shop/web@DIGEST` */
let ofVictim: string;
let own: string;
let layerOfVictim: string;
let layerOfOwn: string;
let main: string;
let build: Build;
let fork: Build;

beforeAll(async () => {
  [victim, attacker] = await Promise.all([startHarness('reach-victim'), startHarness('reach-attacker')]);
  address = attacker.connection.registry;
  const repository = await addShop(attacker, smallPage('own'));
  const origin = `${attacker.connection.gitUrl}/${attacker.group}/shop.git`;
  const slow = { ...smallPage('slow'), Dockerfile: 'FROM busybox:1\nRUN sleep 900\n' };
  await pushRepository({ url: origin, branch: 'slow', files: slow });
  await pushPullRequest(origin, 'slow', 1);
  const [victims, owned] = await Promise.all([
    addShop(victim, smallPage('of the victim')).then((id) => victim.spawn(id, 'main')),
    attacker.spawn(repository, 'main'),
  ]);
  await Promise.all([victim.built(victims), attacker.built(owned)]);
  main = owned;
  [ofVictim, own] = await Promise.all([imageOf(victim, victims), imageOf(attacker, owned)]);
  [layerOfVictim, layerOfOwn] = await Promise.all([newestLayer(ofVictim), newestLayer(own)]);
  // Their builds run while the tests use their credentials.
  [build, fork] = await Promise.all([
    attacker.spawn(repository, 'slow').then(running),
    attacker.spawn(repository, '', { gitRef: { name: '1', type: 'pull request' } }).then(running),
  ]);
}, 400_000);

afterAll(() => Promise.all([victim.remove(), attacker.remove()]), 60_000);

async function addShop(harness: Harness, files: Record<string, string>): Promise<string> {
  const url = `${harness.connection.gitUrl}/${harness.group}/shop.git`;
  await pushRepository({ url, branch: 'main', files });
  return harness.addRepository('shop', url);
}

async function imageOf(harness: Harness, id: string): Promise<string> {
  const path = 'jsonpath={.spec.template.spec.containers[0].image}';
  const at = ['deployment', 'web', '--namespace', namespaceOf(id)];
  return (await harness.kubectl(['get', ...at, '--output', path])).trim();
}

/** Returns the name of the image's newest layer: `ADDRESS/PATH@DIGEST`. */
async function newestLayer(image: string): Promise<string> {
  const [manifest = ''] = await new TestRegistry().contents(image);
  const digest = /.*"digest":\s*"(sha256:[0-9a-f]{64})"/s.exec(manifest)?.[1] ?? '';
  return `${image.split('@')[0] ?? ''}@${digest}`;
}

/** Returns the credential and the pod of a running build. */
async function running(id: string): Promise<Build> {
  const namespace = namespaceOf(id);
  const at = ['get', 'secret', 'build-credentials', '--namespace', namespace, '--ignore-not-found'];
  const dockerConfig = await waitFor('the credentials of the build', 120, async () => {
    const text = await attacker.kubectl([...at, '--output', 'jsonpath={.data.config\\.json}']);
    return text === '' ? undefined : Buffer.from(text, 'base64').toString();
  });
  const runs = ['--selector', 'coppice.dev/build=1', '--field-selector', 'status.phase=Running'];
  const pod = await waitFor('the build to run', 120, async () => {
    const name = ['--output', 'jsonpath={.items[*].metadata.name}'];
    return (await attacker.kubectl(['get', 'pods', '--namespace', namespace, ...runs, ...name])) || undefined;
  });
  return { environment: id, pod: { namespace, pod, container: 'build-web' }, dockerConfig };
}

/** Returns what a client of BuildKit gets with the credentials of a build and without its source policy. */
function asks({ pod, dockerConfig }: Build, source: Buffer, ...options: string[]): Promise<string> {
  return askBuildkitd(attacker.kubectl, {
    from: pod,
    dockerConfig,
    source,
    ...(options.length > 0 && { arguments: options }),
  });
}

const base = rawSource('docker-image://docker.io/library/busybox:1');
const denied = 'insufficient_scope: authorization failed';

/** BuildKit pushes layers and configuration side by side, and reports the first request that the registry refuses. */
const refusedPush =
  /^(push access denied|unauthorized: authentication required|unexpected status from HEAD request to \S+: 401 Unauthorized)/;

const pushTo = (name: string) => ['--output', `type=image,name=${address}/${name},push=true,registry.insecure=true`];
const importFrom = (image: string) => [
  ...['--output', 'type=local,dest=out'],
  ...['--import-cache', `type=registry,ref=${image},registry.insecure=true`],
];

test('lets a trusted build pull and push images of its own repository', async () => {
  expect(await asks(build, rawSource(`docker-image://${own}`))).toMatch(/^files: bin$/m);
  expect(await asks(build, rawSource(`docker-image+blob://${layerOfOwn}`))).toContain(
    `files: ${layerOfOwn.split(':').at(-1) ?? ''}`,
  );
  expect(await asks(build, base, ...importFrom(own))).toContain('inferred cache manifest type');
  expect(await asks(build, base, ...pushTo(`${attacker.group}/shop/pushed:1`))).toContain('exit code: 0');
});

test("lets a fork's build push and pull images of untrusted builds", async () => {
  const name = `${attacker.group}/shop/untrusted/pushed:1`;
  expect(await asks(fork, base, ...pushTo(name))).toContain('exit code: 0');
  expect(await asks(fork, rawSource(`docker-image://${address}/${name}`))).toMatch(/^files: bin$/m);
});

test.each<[string, () => Build, () => string[], () => string[]]>([
  ['a trusted build', () => build, () => [ofVictim, layerOfVictim], () => ['other/web', 'shop/untrusted/web']],
  ["a fork's build", () => fork, () => [ofVictim, layerOfVictim, own, layerOfOwn], () => ['other/web', 'shop/web']],
])(
  'does not let %s pull, import or push other images',
  async (_what, from, images, ownNames) => {
    for (const image of images()) {
      for (const scheme of ['docker-image', 'docker-image+blob']) {
        const answer = await asks(from(), rawSource(`${scheme}://${image}`));
        expect(answer).toContain(denied);
        expect(answer).toMatch(/^files: $/m);
      }
      expect(await asks(from(), base, ...importFrom(image))).toContain(
        'failed to configure registry cache importer: pull access denied',
      );
    }
    const names = [`${victim.group}/shop/web`, ...ownNames().map((name) => `${attacker.group}/${name}`)];
    for (const name of names) {
      const answer = await asks(from(), base, ...pushTo(`${name}:stolen`));
      const [, why] = answer.split(`failed to push ${address}/${name}:stolen: `);
      expect(why).toMatch(refusedPush);
    }
  },
  240_000,
);

const manifestType = 'application/vnd.oci.image.manifest.v1+json';

/**
 * Sends every request that reads or changes an image, with the token that the credential gets; returns the statuses.
 */
async function statusesOf(dockerConfig: string, image: string, from: string): Promise<Record<string, number>> {
  const name = image.slice(address.length + 1).split('@')[0] ?? '';
  const digest = image.split('@')[1] ?? '';
  const [fromName = '', layer = ''] = from.slice(address.length + 1).split('@');
  const ask = async (method: string, path: string, ...scopes: string[]) => {
    const authorization = `Bearer ${await tokenFor(dockerConfig, scopes)}`;
    const url = `http://${IMAGES_HOST_ADDRESS}/v2/${path}`;
    return (await send(url, { method, headers: { authorization, accept: manifestType } })).status;
  };
  const pull = `repository:${name}:pull`;
  const push = `repository:${name}:pull,push`;
  return {
    pull: await ask('GET', `${name}/manifests/${digest}`, pull),
    tags: await ask('GET', `${name}/tags/list`, pull),
    push: await ask('POST', `${name}/blobs/uploads/`, push),
    mount: await ask(
      'POST',
      `${name}/blobs/uploads/?mount=${layer}&from=${fromName}`,
      push,
      `repository:${fromName}:pull`,
    ),
    delete: await ask('DELETE', `${name}/manifests/${digest}`, `repository:${name}:delete`),
    catalog: await ask('GET', '_catalog', 'registry:catalog:*'),
  };
}

const authSchema = z.object({ auths: z.record(z.string(), z.object({ auth: z.string() })) });
/** Requests a token with the credential in a Docker configuration. */
function tokenFor(dockerConfig: string, scopes: readonly string[]): Promise<string> {
  const auth = authSchema.parse(JSON.parse(dockerConfig)).auths[address]?.auth ?? '';
  return registryToken(attacker.connection.ingressUrl, `Basic ${auth}`, scopes);
}

const refused = { pull: 401, tags: 401, push: 401, mount: 401, delete: 401, catalog: 401 };

test("lets an environment's Secret only pull its repository's images", async () => {
  const at = ['get', 'secret', 'registry', '--namespace', namespaceOf(main), '--output'];
  const text = await attacker.kubectl([...at, 'jsonpath={.data.\\.dockerconfigjson}']);
  const secret = Buffer.from(text, 'base64').toString();
  expect(await statusesOf(secret, own, layerOfVictim)).toEqual({ ...refused, pull: 200, tags: 200 });
  expect(await statusesOf(secret, ofVictim, layerOfOwn)).toEqual(refused);
});

test("does not let a build's credential mount another group's layer, delete an image or list the registry", async () => {
  const allowed = { ...refused, pull: 200, tags: 200, push: 202 };
  expect(await statusesOf(build.dockerConfig, own, layerOfVictim)).toEqual(allowed);
  expect(await statusesOf(build.dockerConfig, ofVictim, layerOfOwn)).toEqual(refused);
  expect(await statusesOf(fork.dockerConfig, own, layerOfVictim)).toEqual(refused);
  expect(await statusesOf(fork.dockerConfig, ofVictim, layerOfOwn)).toEqual(refused);
});

test("denies a Dockerfile's FROM before asking the registry", async () => {
  // The local cluster runs one untrusted build of an account at a time.
  const name = fork.environment.slice(fork.environment.indexOf('.') + 1);
  await attacker.kubectl(['delete', 'environments.coppice.dev', name, '--namespace', `group-${attacker.group}`]);
  const origin = `${attacker.connection.gitUrl}/${attacker.group}/shop.git`;
  const repository = `${attacker.group}.shop`;
  const isDenied = async (environment: string, image: string) => {
    await attacker.stalled(environment);
    expect(await logOf(attacker, environment)).toMatch(new RegExp(`${image}.*denied by policy`));
  };
  await pushRepository({ url: origin, branch: 'victim', files: from(ofVictim) });
  await pushRepository({ url: origin, branch: 'trusted', files: from(own) });
  await pushPullRequest(origin, 'trusted', 2);
  const [branch, pullRequest] = await Promise.all([
    attacker.spawn(repository, 'victim'),
    attacker.spawn(repository, '', { gitRef: { name: '2', type: 'pull request' } }),
  ]);
  await Promise.all([isDenied(branch, ofVictim), isDenied(pullRequest, own)]);
}, 240_000);

function from(image: string): Record<string, string> {
  return { ...smallPage('stolen'), Dockerfile: `FROM ${image}\n` };
}
