// Runs `npm run up` as on a machine with Docker and a reachable registry: an engine without images, whose docker.io
// mirror serves the locally built images under their upstream names. Fails if anything is compiled, or an image is
// built that can be pulled. The engine has a network namespace, so the local cluster is not affected.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { storeBaseImages } from '../cluster/base-images.ts';
import { withCleanUp } from '../cluster/clean-up.ts';
import { isDebianRoot } from '../cluster/debian-packages.ts';
import { imageStore } from '../cluster/image-store.ts';
import { ensureNodeImage, storeNodeImage } from '../cluster/node-image.ts';
import { CACHE_FOLDER, PROGRAMS_FOLDER, REPOSITORY_ROOT } from '../cluster/paths.ts';
import { buildPrograms, programPath } from '../cluster/programs.ts';
import { runMain, startProgress } from '../cluster/progress.ts';
import { pushLayers } from '../cluster/push-layers.ts';
import { run, tryRun } from '../cluster/run.ts';
import { VERSIONS } from '../cluster/versions.ts';
import { waitFor } from '../cluster/wait-for.ts';

const namespace = 'coppice-pulled';
const [hostAddress, address] = ['172.31.255.1', '172.31.255.2'];
const registryAddress = `${address}:5002`;
const nodeImage = `kindest/node:${VERSIONS.kubernetes}`;
const pulled = ['busybox', 'debian', 'node', 'redis', 'buildkit', 'traefik', 'registry'] as const;

const progress = startProgress();
const processes: ChildProcess[] = [];

/** Starts a program in the namespace; its output goes to a file. */
function start(folder: string, name: string, program: string, args: readonly string[]): void {
  const output = openSync(join(folder, `${name}.log`), 'a');
  const inside = [`--net=/run/netns/${namespace}`, program, ...args];
  processes.push(spawn('nsenter', inside, { stdio: ['ignore', output, output], detached: true }));
}

const routes = [
  ['-t', 'nat', 'POSTROUTING', '-s', `${address}/32`, '-j', 'MASQUERADE'],
  ['-t', 'filter', 'FORWARD', '-s', `${address}/32`, '-j', 'ACCEPT'],
  ['-t', 'filter', 'FORWARD', '-d', `${address}/32`, '-j', 'ACCEPT'],
] as const;

async function addNamespace(): Promise<void> {
  await removeNamespace();
  const [outside, inside] = ['coppice-out', 'coppice-in'];
  const ip = (...args: string[]) => run('ip', args);
  const ipInside = (...args: string[]) => run('ip', ['-n', namespace, ...args]);
  await ip('netns', 'add', namespace);
  await ip('link', 'add', outside, 'type', 'veth', 'peer', 'name', inside, 'netns', namespace);
  await ip('addr', 'add', `${hostAddress}/30`, 'dev', outside);
  await ip('link', 'set', outside, 'up');
  await ipInside('addr', 'add', `${address}/30`, 'dev', inside);
  await ipInside('link', 'set', inside, 'up');
  await ipInside('link', 'set', 'lo', 'up');
  await ipInside('route', 'add', 'default', 'via', hostAddress);
  for (const [flag, table, chain, ...rule] of routes) await run('iptables', [flag, table, '-I', chain, ...rule]);
}

async function removeNamespace(): Promise<void> {
  for (const [flag, table, chain, ...rule] of routes) await tryRun('iptables', [flag, table, '-D', chain, ...rule]);
  await tryRun('ip', ['netns', 'delete', namespace]);
}

/** Serves the locally built images under their upstream names. */
async function serveImages(folder: string): Promise<void> {
  const storage = `storage: {filesystem: {rootdirectory: ${join(folder, 'registry')}}}`;
  writeFileSync(join(folder, 'registry.yml'), `version: 0.1\n${storage}\nhttp: {addr: "${registryAddress}"}\n`);
  start(folder, 'registry', programPath('registry'), ['serve', join(folder, 'registry.yml')]);
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
  const node = await ensureNodeImage(VERSIONS.pulledNodeImage, progress);
  await storeNodeImage(progress);
  const stored = imageStore.findCurrent(node.name);
  if (stored === undefined) throw new Error(`${node.name} is not stored`);
  await pushLayers(imageStore, stored, nodeImage, registry);
}

/** Starts an engine with this machine's flags that matter to kind. */
async function startEngine(folder: string): Promise<Record<string, string>> {
  const runtime = join(PROGRAMS_FOLDER, 'runc-without-sys-resource');
  const flags = existsSync(runtime) ? ['--add-runtime', `plain=${runtime}`, '--default-runtime', 'plain'] : [];
  const host = `unix://${join(folder, 'docker.sock')}`;
  start(folder, 'dockerd', 'dockerd', [
    ...['--host', host, '--data-root', join(folder, 'docker'), '--exec-root', join(folder, 'exec')],
    ...['--pidfile', join(folder, 'docker.pid'), '--registry-mirror', `http://${registryAddress}`, ...flags],
  ]);
  const env = { DOCKER_HOST: host };
  await waitFor('the engine', 60, async () => (await tryRun('docker', ['version'], { env })) && true);
  return env;
}

/** Creates a PATH with the command line tools, and a Go that only records that it was called. */
function layOutPrograms(folder: string): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  for (const name of ['kind', 'kubectl', 'helm']) symlinkSync(programPath('host'), join(bin, name));
  writeFileSync(join(bin, 'go'), `#!/bin/sh\necho "$@" >>${join(folder, 'go-calls')}\nexit 1\n`, { mode: 0o755 });
  return bin;
}

async function bringUp(folder: string, engine: Record<string, string>): Promise<void> {
  const checkout = join(folder, 'checkout');
  mkdirSync(checkout);
  // A separate checkout, with a separate .local.
  await run('sh', ['-ec', 'git archive HEAD | tar -x -C "$1"', 'sh', checkout], { cwd: REPOSITORY_ROOT });
  symlinkSync(join(REPOSITORY_ROOT, 'node_modules'), join(checkout, 'node_modules'));
  const env = {
    ...process.env,
    ...engine,
    XDG_CACHE_HOME: join(folder, 'cache'),
    PATH: `${layOutPrograms(folder)}:${process.env['PATH'] ?? ''}`,
  };
  const up = ['test/cluster/up.ts', '--node-image', nodeImage];
  const args = [`--net=/run/netns/${namespace}`, process.execPath, ...up];
  const child = spawn('nsenter', args, { cwd: checkout, env, stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`npm run up ended with exit code ${code ?? 'none'}`);
}

async function verify(folder: string, env: Record<string, string>): Promise<void> {
  if (existsSync(join(folder, 'go-calls'))) {
    throw new Error(`Go was called: ${readFileSync(join(folder, 'go-calls'), 'utf8')}`);
  }
  const list = await run('docker', ['images', '--format', '{{.Repository}}:{{.Tag}}'], { env });
  const present = list.trim().split('\n').sort();
  // Docker has what the scripts use; the node pulls Redis, Traefik and BuildKit.
  const expected = [
    /^coppice(-git-server|-git-hosts|-tester)?:/,
    /^kindest\/node:/,
    /^(node|registry|busybox|debian):/,
  ];
  const others = present.filter((name) => !expected.some((pattern) => pattern.test(name)));
  if (others.length > 0) throw new Error(`Docker has images that nothing needs here: ${others.join(', ')}`);
  const onNode = ['exec', 'coppice-control-plane', 'ctr', '-n', 'k8s.io', 'images', 'list', '-q'];
  const inNode = await run('docker', onNode, { env });
  for (const image of ['redis:', 'traefik:', 'moby/buildkit:']) {
    if (!inNode.includes(image)) throw new Error(`the node has no image ${image}`);
  }
  console.log(`Docker has ${present.join(', ')}`);
}

/** Prints the compressed sizes of what a registry sends; the stored layers are not compressed. */
async function showSizes(): Promise<void> {
  const stored = await storeBaseImages(pulled, progress);
  const node = imageStore.findCurrent((await ensureNodeImage(VERSIONS.pulledNodeImage, progress)).name);
  const seen = new Set<string>();
  for (const image of [...(node ? [node] : []), ...stored]) {
    const layers = image.layers.filter((layer) => !seen.has(layer));
    layers.forEach((layer) => seen.add(layer));
    const files = layers.map((layer) => imageStore.blob(layer));
    const bytes = await run('sh', ['-ec', 'cat "$@" | gzip -1 | wc -c', 'sh', ...files], { deadline: 300 });
    console.log(`${image.image}: ${(Number(bytes) / 1e6).toFixed(0)} MB beside the layers above`);
  }
}

async function takeDown(folder: string, env: Record<string, string>): Promise<void> {
  await tryRun('sh', ['-c', 'docker ps --all --quiet | xargs -r docker rm --force --volumes'], { env, deadline: 120 });
  for (const child of processes.reverse()) {
    const ended = child.exitCode === null ? once(child, 'exit') : undefined;
    child.kill('SIGTERM');
    await ended;
  }
  await removeNamespace();
  // dockerd leaves this mount of its network namespace.
  await tryRun('umount', [join(folder, 'exec/netns/default')]);
  rmSync(folder, { recursive: true, force: true });
}

await runMain(async () => {
  if (!isDebianRoot()) {
    console.log('Skipped: the images to pull are built locally, which takes Debian and root.');
    return;
  }
  if (process.argv.includes('--sizes')) return showSizes();
  await buildPrograms(['registry', 'host'], progress);
  mkdirSync(CACHE_FOLDER, { recursive: true });
  const folder = mkdtempSync(join(CACHE_FOLDER, 'pulled-'));
  let env: Record<string, string> = {};
  await withCleanUp(
    async () => {
      await addNamespace();
      await serveImages(folder);
      env = await startEngine(folder);
      await bringUp(folder, env);
      await verify(folder, env);
    },
    () => takeDown(folder, env),
  );
});
