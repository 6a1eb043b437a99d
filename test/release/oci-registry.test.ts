import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { fileIn, imageIn, platformsOf } from './oci-layout.ts';
import { MEDIA_TYPES, OciRegistry, sha256 } from './oci-registry.ts';
import { run } from '../support/run.ts';

/** A registry in memory that gives tokens to one login. */
const credentials = { username: 'me', password: 'secret' };
const basic = `Basic ${Buffer.from('me:secret').toString('base64')}`;
let server: Server;
let host: string;
let stored: Map<string, Buffer>;
let tokens: number;
/** Address of another server, where uploads go; '' for none. */
let elsewhere: string;

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '', `http://${host}`);
  const body = await bodyOf(request);
  const end = (status: number, headers: Record<string, string> = {}, text: string | Buffer = '') =>
    response.writeHead(status, headers).end(request.method === 'HEAD' ? undefined : text);
  if (url.pathname === '/token') {
    tokens += 1;
    if (request.headers.authorization !== basic) return void end(401);
    return void end(200, {}, JSON.stringify({ token: url.searchParams.get('scope') }));
  }
  const [, repository = ''] = /^\/v2\/(.*)\/(?:blobs|manifests)\//.exec(url.pathname) ?? [];
  if (request.headers.authorization !== `Bearer repository:${repository}:pull,push`) {
    return void end(401, { 'www-authenticate': `Bearer realm="http://${host}/token",service="test"` });
  }
  if (request.method === 'POST' && elsewhere !== '') return void end(202, { location: `${elsewhere}/upload` });
  if (request.method === 'POST') return void end(202, { location: `/v2/${repository}/blobs/uploads/1?state=x` });
  if (request.method === 'PUT') {
    const digest = url.searchParams.get('digest');
    if (digest !== null && digest !== `sha256:${sha256(body)}`) return void end(400);
    stored.set(digest === null ? url.pathname : `/v2/${repository}/blobs/${digest}`, body);
    return void end(201);
  }
  const found = stored.get(url.pathname);
  return void (found === undefined ? end(404) : end(200, {}, found));
}

let folder: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'layout-'));
  stored = new Map();
  tokens = 0;
  elsewhere = '';
  server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  host = typeof address === 'object' && address ? `127.0.0.1:${address.port}` : '';
});
afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

function writeBlob(bytes: Buffer | string, mediaType: string) {
  const digest = sha256(bytes);
  mkdirSync(join(folder, 'blobs/sha256'), { recursive: true });
  writeFileSync(join(folder, 'blobs/sha256', digest), bytes);
  return { mediaType, digest: `sha256:${digest}`, size: Buffer.byteLength(bytes) };
}

/** Writes an image for one platform with a layer of one file. */
async function writeLayout(): Promise<void> {
  const files = join(folder, 'files');
  mkdirSync(join(files, 'etc'), { recursive: true });
  writeFileSync(join(files, 'etc/name'), 'content');
  const layer = join(folder, 'layer.tgz');
  await run('tar', ['--create', '--gzip', '--file', layer, '--directory', files, 'etc/name']);
  const manifest = writeBlob(
    JSON.stringify({
      config: writeBlob('{}', 'application/vnd.oci.image.config.v1+json'),
      layers: [writeBlob(readFileSync(layer), 'application/vnd.oci.image.layer.v1.tar+gzip')],
    }),
    MEDIA_TYPES.manifest,
  );
  const platform = { os: 'linux', architecture: 'arm64' };
  const index = writeBlob(JSON.stringify({ manifests: [{ ...manifest, platform }] }), MEDIA_TYPES.index);
  writeFileSync(join(folder, 'index.json'), JSON.stringify({ manifests: [index] }));
}

test('pushes an image with everything below it, once, with a token for its repository', async () => {
  await writeLayout();
  const registry = new OciRegistry({ host, insecure: true, credentials });
  const image = imageIn(folder);
  expect(await registry.digestOf('acme/coppice', '1.2.3')).toBeUndefined();
  expect(await registry.pushFromLayout(folder, image, 'acme/coppice', '1.2.3')).toBe(image.digest);
  expect(await registry.digestOf('acme/coppice', '1.2.3')).toBe(image.digest);
  const kinds = [...stored.keys()].map((path) => path.split('/').at(-2));
  expect(kinds.sort()).toEqual(['blobs', 'blobs', 'manifests', 'manifests']);
  stored.forEach((_bytes, path) => expect(path).toMatch(/^\/v2\/acme\/coppice\//));
  expect(tokens).toBe(1);
});

test('reports a refused login', async () => {
  const registry = new OciRegistry({ host, insecure: true, credentials: { ...credentials, password: 'other' } });
  await expect(registry.digestOf('acme/coppice', '1.2.3')).rejects.toThrow('token server answers 401');
});

test('sends its login to no other host', async () => {
  const seen: (string | undefined)[] = [];
  const other = createServer((request, response) => {
    seen.push(request.headers.authorization);
    request.resume().on('end', () => response.writeHead(201).end());
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const address = other.address();
  elsewhere = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : ''}`;
  const registry = new OciRegistry({ host, insecure: true, credentials });
  await registry.pushBlob('acme/coppice', `sha256:${sha256('x')}`, new Blob(['x']));
  expect(seen).toEqual([undefined]);
  other.close();
});

test('finds the platforms of an image, and files in their layers', async () => {
  await writeLayout();
  const [[name, manifest] = []] = [...platformsOf(folder, imageIn(folder))];
  expect(name).toBe('linux/arm64');
  if (!manifest) throw new Error('the image has no platform');
  expect(await fileIn(folder, manifest, 'etc/name')).toBe('content');
  expect(await fileIn(folder, manifest, 'etc/other')).toBeUndefined();
});
