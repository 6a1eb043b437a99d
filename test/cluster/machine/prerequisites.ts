import { existsSync, mkdirSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { INGRESS_PORT, NODE_CONTAINER } from '../kind-cluster.ts';
import { CACHE_FOLDER } from '../../support/paths.ts';
import { Problem } from '../../support/problem.ts';
import { IMAGES_CONTAINER, IMAGES_PORT, REGISTRY_CONTAINER, REGISTRY_PORT } from '../registries/registry.ts';
import { tryRun } from '../../support/run.ts';

const gibibyte = 1024 ** 3;
const neededSpace = 10 * gibibyte;

/** Checks the machine before anything is changed. Throws a Problem that says what is missing and what to do. */
export async function checkMachine(): Promise<void> {
  const version = Number(process.versions.node.split('.')[0]);
  if (version < 24) {
    throw new Problem(`Node ${process.versions.node} is too old: start this by \`npm run up\`, which brings Node 24.`);
  }
  if (process.platform !== 'linux' && process.platform !== 'darwin') {
    throw new Problem(
      `The local cluster runs on Linux and macOS, not on ${process.platform}: use a Linux machine or WSL 2.`,
    );
  }
  mkdirSync(CACHE_FOLDER, { recursive: true });
  for (const folder of [CACHE_FOLDER, '/var/lib/docker'].filter((path) => existsSync(path))) {
    const { bavail, bsize } = await statfs(folder);
    if (bavail * bsize >= neededSpace) continue;
    const free = ((bavail * bsize) / gibibyte).toFixed(1);
    throw new Problem(`Only ${free} GiB are free at ${folder}: the cluster needs 10. Make room there.`);
  }
}

/** Checks that the ports on 127.0.0.1 are free, or used by our own containers. The Docker Engine must be running. */
export async function checkPorts(): Promise<void> {
  await Promise.all([
    checkPort(INGRESS_PORT, NODE_CONTAINER, 'io.x-k8s.kind.cluster'),
    checkPort(REGISTRY_PORT, REGISTRY_CONTAINER, 'dev.coppice.cluster'),
    checkPort(IMAGES_PORT, IMAGES_CONTAINER, 'dev.coppice.cluster'),
  ]);
}

async function checkPort(port: number, container: string, label: string): Promise<void> {
  const format = `{{.State.Running}} {{index (or .Config.Labels (js "")) "${label}"}}`;
  const state = (await tryRun('docker', ['inspect', '--format', format, container]))?.trim();
  const [running, owner] = state?.split(' ') ?? [];
  if (state !== undefined && owner !== 'coppice') {
    throw new Problem(
      `There is a container ${container} already that is not Coppice's: remove it with \`docker rm -f ${container}\`.`,
    );
  }
  if (running === 'true' || (await isFree(port))) return;
  throw new Problem(
    `Port ${port} of 127.0.0.1 is taken by another program: end it (\`ss -ltnp sport = :${port}\` names it).`,
  );
}

function isFree(port: number): Promise<boolean> {
  return new Promise((fulfil, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') fulfil(false);
      else reject(error);
    });
    server.listen(port, '127.0.0.1', () => server.close(() => fulfil(true)));
  });
}
