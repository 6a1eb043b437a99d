import { createHash } from 'node:crypto';
import { createReadStream, existsSync, statSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join, normalize } from 'node:path';
import { CACHE_FOLDER } from '../support/paths.ts';
import type { Progress } from '../support/progress.ts';
import { recipeHash } from '../cluster/recipe.ts';
import { run } from '../support/run.ts';
import { IMAGES } from '../cluster/versions.ts';

/** Packages as build steps find them, so that no public registry decides how long a build takes. */
export interface PackageCache {
  port: number;
  stop(): Promise<void>;
}

const folder = join(CACHE_FOLDER, 'packages');
const wheels = join(folder, 'wheels');
/** GOMODCACHE of the downloads; a part of it has the layout of a module proxy. */
const modules = join(folder, 'modules');

/** Manifests of the packages to download before any build. */
export interface Manifests {
  /** Files for `pip --requirement`. */
  requirements: readonly string[];
  /** Folders with a go.mod. */
  modules: readonly string[];
}

/** Downloads wheels and modules with pip and go, in the images that build with them. */
export async function downloadPackages(manifests: Manifests, progress: Progress): Promise<void> {
  const authorities = '/etc/ssl/certs/ca-certificates.crt';
  const download = async (image: string, mounts: Record<string, string>, env: string[], command: string[]) => {
    const all = { ...mounts, ...(existsSync(authorities) && { [authorities]: '/authorities.crt:ro' }) };
    const volumes = Object.entries(all).map(([from, to]) => `--volume=${from}:${to}`);
    const variables = env.map((variable) => `--env=${variable}`);
    const args = ['run', '--rm', '--network=host', ...volumes, ...variables, image, ...command];
    await run('docker', args, { deadline: 300 });
  };
  const stamp = join(folder, 'downloaded');
  const files = [...manifests.requirements, ...manifests.modules.map((one) => join(one, 'go.sum'))];
  const wanted = recipeHash(files, []);
  if (existsSync(stamp) && (await readFile(stamp, 'utf8')) === wanted) return;
  await mkdir(wheels, { recursive: true });
  await mkdir(modules, { recursive: true });
  await progress.step('download packages', async () => {
    for (const file of manifests.requirements) {
      const command = ['pip', 'download', '--quiet', '--no-deps', '--dest=/wheels', '--requirement=/requirements.txt'];
      const mounts = { [wheels]: '/wheels', [file]: '/requirements.txt:ro' };
      await download(IMAGES.python, mounts, ['PIP_CERT=/authorities.crt'], command);
    }
    for (const one of manifests.modules) {
      const mounts = { [modules]: '/modules', [one]: '/source:ro' };
      const env = ['GOMODCACHE=/modules', 'GOFLAGS=-modcacherw', 'SSL_CERT_FILE=/authorities.crt'];
      await download(IMAGES.golang, mounts, env, ['go', '-C', '/source', 'mod', 'download']);
    }
  });
  await writeFile(stamp, wanted);
}

/**
 * Serves npm packages below `/`, which it requests once from the registry that npm is configured with; the wheels below
 * `/wheels/`, and Go modules below `/modules/`. Listens on `address`.
 */
export async function startPackageCache(address: string): Promise<PackageCache> {
  const upstream = (await run('npm', ['config', 'get', 'registry'])).trim();
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname } = new URL(request.url ?? '/', 'http://packages');
    if (request.method !== 'GET') response.writeHead(405).end();
    else if (pathname === '/wheels/') await listWheels(response);
    else if (pathname.startsWith('/wheels/')) sendFile(wheels, pathname.slice('/wheels'.length), response);
    else if (pathname.startsWith('/modules/'))
      sendFile(join(modules, 'cache/download'), pathname.slice('/modules'.length), response);
    else await sendNpm(new URL(pathname, upstream), request.headers.accept ?? '*/*', response);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      console.error(`packages: ${request.url}:`, error);
      if (!response.headersSent) response.writeHead(502);
      response.end();
    });
  });
  server.listen(0, address);
  await once(server, 'listening');
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('the package cache got no port');
  return {
    port: bound.port,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function listWheels(response: ServerResponse): Promise<void> {
  const names = await readdir(wheels);
  response.writeHead(200, { 'content-type': 'text/html' });
  response.end(names.map((name) => `<a href="${encodeURIComponent(name)}">${name}</a>`).join('\n'));
}

function sendFile(root: string, pathname: string, response: ServerResponse): void {
  const file = join(root, normalize(decodeURIComponent(pathname)));
  if (!existsSync(file) || !statSync(file).isFile()) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { 'content-length': statSync(file).size });
  createReadStream(file).pipe(response);
}

/** Sends a file or a list of versions of the npm registry, from the folder if it was requested before. */
async function sendNpm(url: URL, accept: string, response: ServerResponse): Promise<void> {
  const file = join(folder, 'npm', createHash('sha256').update(`${url.href} ${accept}`).digest('hex'));
  if (!existsSync(file)) {
    const got = await fetch(url, { headers: { accept } });
    if (!got.ok) {
      response.writeHead(got.status).end();
      return;
    }
    await mkdir(join(folder, 'npm'), { recursive: true });
    const scratch = `${file}.${process.hrtime.bigint()}`;
    await writeFile(scratch, Buffer.from(await got.arrayBuffer()));
    await rename(scratch, file);
  }
  const content = await readFile(file);
  const type = url.pathname.endsWith('.tgz') ? 'application/octet-stream' : 'application/json';
  response.writeHead(200, { 'content-type': type, 'content-length': content.length }).end(content);
}
