import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, statSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

const mediaType = 'application/vnd.git-lfs+json';

interface LfsObject {
  oid: string;
  size: number;
}

/**
 * Serves Git LFS for one repository (git-lfs, docs/api): the batch call, and a PUT and a GET for each object. Returns
 * whether it handled the request.
 */
export async function serveLargeFiles(
  request: IncomingMessage,
  response: ServerResponse,
  folder: string,
  url: URL,
): Promise<boolean> {
  const [, base, rest] = /^(.*\.git\/info\/lfs\/objects)\/(.*)$/.exec(url.pathname) ?? [];
  if (base === undefined || rest === undefined) return false;
  const objects = join(folder, 'lfs-objects');
  const file = (oid: string): string => join(objects, oid);
  const isThere = (oid: string): boolean => /^[0-9a-f]{64}$/.test(oid) && existsSync(file(oid));
  const answer = (status: number, body: object): void => {
    response.writeHead(status, { 'content-type': mediaType }).end(JSON.stringify(body));
  };
  if (rest === 'batch' && request.method === 'POST') {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { operation, objects: asked } = JSON.parse(body) as { operation: string; objects: LfsObject[] };
    const host = `http://${request.headers.host ?? ''}`;
    const described = asked.map(({ oid, size }) => {
      const action = { href: `${host}${base}/${oid}` };
      if (operation === 'upload') return { oid, size, actions: isThere(oid) ? {} : { upload: action } };
      if (!isThere(oid)) return { oid, size, error: { code: 404, message: 'the object is not here' } };
      return { oid, size: statSync(file(oid)).size, actions: { download: action } };
    });
    answer(200, { transfer: 'basic', objects: described });
  } else if (!/^[0-9a-f]{64}$/.test(rest)) {
    answer(404, { message: 'no such call' });
  } else if (request.method === 'PUT') {
    await mkdir(objects, { recursive: true });
    const hash = createHash('sha256');
    request.on('data', (chunk: Buffer) => hash.update(chunk));
    await pipeline(request, createWriteStream(`${file(rest)}.new`));
    if (hash.digest('hex') === rest) {
      await rename(`${file(rest)}.new`, file(rest));
      answer(200, {});
    } else {
      await rm(`${file(rest)}.new`);
      answer(422, { message: 'the content does not fit its name' });
    }
  } else if (request.method === 'GET' && isThere(rest)) {
    response.writeHead(200, { 'content-length': statSync(file(rest)).size });
    await pipeline(createReadStream(file(rest)), response);
  } else {
    answer(404, { message: 'the object is not here' });
  }
  return true;
}
