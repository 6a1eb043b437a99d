// Runs `npm run up` as on a machine with Docker and a reachable registry: an engine without images, whose docker.io
// mirror serves the locally built images under their upstream names. Fails if anything is compiled, or an image is
// built that can be pulled. The engine has a network namespace, so the local cluster is not affected.
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { storeBaseImages } from '../cluster/images/base-images.ts';
import { withCleanUp } from '../support/clean-up.ts';
import { isDebianRoot } from '../cluster/machine/debian-packages.ts';
import { imageStore } from '../cluster/images/image-store.ts';
import { planNodeImage, provideNodeImage, storeNodeImage } from '../cluster/images/node-image.ts';
import { OwnEngine } from '../cluster/machine/own-engine.ts';
import { buildPrograms, programPath } from '../cluster/go/programs.ts';
import { NotRun } from '../support/problem.ts';
import { runMain, startProgress } from '../support/progress.ts';
import { pushLayers } from '../cluster/images/push-layers.ts';
import { run } from '../support/run.ts';
import { VERSIONS } from '../cluster/versions.ts';
import { waitFor } from '../support/wait-for.ts';

const registryPort = 5002;
const nodeImage = `kindest/node:${VERSIONS.kubernetes}`;
const pulled = ['busybox', 'debian', 'node', 'valkey', 'buildkit', 'traefik', 'registry'] as const;

const progress = startProgress();

/** Serves the locally built images under their upstream names. */
async function serveImages(engine: OwnEngine, folder: string): Promise<string> {
  const registryAddress = `${engine.address}:${registryPort}`;
  const storage = `storage: {filesystem: {rootdirectory: ${join(folder, 'registry')}}}`;
  writeFileSync(join(folder, 'registry.yml'), `version: 0.1\n${storage}\nhttp: {addr: "${registryAddress}"}\n`);
  engine.start('registry', programPath('registry'), ['serve', join(folder, 'registry.yml')]);
  await waitFor('the registry', 30, async () => (await fetch(`http://${registryAddress}/v2/`)).ok || undefined);
  const registry = {
    address: registryAddress,
    hostAddress: registryAddress,
    username: '',
    password: '',
    insecure: true,
  };
  for (const stored of await storeBaseImages(pulled, progress)) {
    const path = stored.image.includes('/') ? stored.image : `library/${stored.image}`;
    await pushLayers(imageStore, stored, path, registry);
  }
  const node = await provideNodeImage(await planNodeImage(VERSIONS.pulledNodeImage), progress);
  await storeNodeImage(progress);
  const stored = imageStore.findCurrent(node.name);
  if (stored === undefined) throw new Error(`${node.name} is not stored`);
  await pushLayers(imageStore, stored, nodeImage, registry);
  return registryAddress;
}

/** Creates a PATH with the command line tools, and a Go that only records that it was called. */
function layOutPrograms(folder: string): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  for (const name of ['kind', 'kubectl', 'helm']) symlinkSync(programPath('host'), join(bin, name));
  writeFileSync(join(bin, 'go'), `#!/bin/sh\necho "$@" >>${join(folder, 'go-calls')}\nexit 1\n`, { mode: 0o755 });
  return bin;
}

async function bringUp(engine: OwnEngine, folder: string): Promise<void> {
  const env = {
    XDG_CACHE_HOME: join(folder, 'cache'),
    PATH: `${layOutPrograms(folder)}:${process.env['PATH'] ?? ''}`,
  };
  const checkout = await engine.checkOut();
  await engine.run(process.execPath, ['test/cluster/up.ts', '--node-image', nodeImage], checkout, env);
  await engine.run(process.execPath, ['test/pulled-images/store-pulled.ts'], checkout, env);
}

/** Verifies that an image was pulled: Docker knows the digest of a manifest only from a registry. */
async function verifyPulled(name: string, env: Record<string, string>): Promise<void> {
  const digests = await run('docker', ['image', 'inspect', '--format', '{{json .RepoDigests}}', name], { env });
  if (!digests.includes(`"${name.split(':')[0] ?? ''}@sha256:`)) throw new Error(`${name} was not pulled: ${digests}`);
}

async function verify(folder: string, env: Record<string, string>): Promise<void> {
  if (existsSync(join(folder, 'go-calls'))) {
    throw new Error(`Go was called: ${readFileSync(join(folder, 'go-calls'), 'utf8')}`);
  }
  // The first stages of multi-stage builds have no name.
  const named = ['images', '--filter', 'dangling=false', '--format', '{{.Repository}}:{{.Tag}}'];
  const list = await run('docker', named, { env });
  const present = list.trim().split('\n').sort();
  // Docker has what the scripts use; the node pulls Valkey, Traefik and BuildKit.
  const built = /^coppice(-git-server|-git-hosts|-tester)?:/;
  const expected = [built, /^kindest\/node:/, /^(node|registry|busybox|debian):/];
  const others = present.filter((name) => !expected.some((pattern) => pattern.test(name)));
  if (others.length > 0) throw new Error(`Docker has images that nothing needs here: ${others.join(', ')}`);
  for (const name of present.filter((one) => !built.test(one))) await verifyPulled(name, env);
  const onNode = ['exec', 'coppice-control-plane', 'ctr', '-n', 'k8s.io', 'images', 'list', '-q'];
  const inNode = await run('docker', onNode, { env });
  for (const image of ['valkey/valkey:', 'traefik:', 'moby/buildkit:']) {
    if (!inNode.includes(image)) throw new Error(`the node has no image ${image}`);
  }
  console.log(`Docker has ${present.join(', ')}`);
}

/** Prints the compressed sizes of what a registry sends; the stored layers are not compressed. */
async function showSizes(): Promise<void> {
  const stored = await storeBaseImages(pulled, progress);
  const node = imageStore.findCurrent((await planNodeImage(VERSIONS.pulledNodeImage)).name);
  const seen = new Set<string>();
  for (const image of [...(node ? [node] : []), ...stored]) {
    const layers = image.layers.filter((layer) => !seen.has(layer));
    layers.forEach((layer) => seen.add(layer));
    const files = layers.map((layer) => imageStore.blob(layer));
    const bytes = await run('sh', ['-ec', 'cat "$@" | gzip -1 | wc -c', 'sh', ...files], { deadline: 300 });
    console.log(`${image.image}: ${(Number(bytes) / 1e6).toFixed(0)} MB beside the layers above`);
  }
}

await runMain(async () => {
  if (!isDebianRoot()) throw new NotRun('the images to pull are built locally, which needs Debian and root.');
  if (process.argv.includes('--sizes')) return showSizes();
  await buildPrograms(['registry', 'host'], progress);
  const engine = new OwnEngine({
    namespace: 'coppice-pulled',
    links: ['coppice-out', 'coppice-in'],
    addresses: ['172.31.255.1', '172.31.255.2'],
  });
  const { folder } = engine;
  await withCleanUp(
    async () => {
      await engine.create();
      const registryAddress = await serveImages(engine, folder);
      await engine.startEngine('--registry-mirror', `http://${registryAddress}`);
      await bringUp(engine, folder);
      await verify(folder, engine.env);
    },
    () => engine.remove(),
  );
});
