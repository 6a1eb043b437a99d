import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { PERMIT_NETWORK, PERMIT_PORT, portOf } from '../../source/network/addresses.ts';
import type { OriginRules } from '../../source/network/addresses.ts';
import { checkedLookup, checkLiteral, type Names } from '../../source/network/checked-lookup.ts';
import type { LfsPointer } from './lfs-pointer.ts';

const downloadSchema = z.object({ href: z.url(), header: z.record(z.string(), z.string()).default({}) });
const batchSchema = z.object({
  objects: z.array(
    z.object({
      oid: z.string(),
      actions: z.object({ download: downloadSchema.optional() }).optional(),
      error: z.object({ code: z.number(), message: z.string() }).optional(),
    }),
  ),
});
export type LfsDownload = z.infer<typeof downloadSchema>;

export interface LfsClientOptions {
  /** Address of the Git repository, from which the LFS server follows; settings in the repository are ignored. */
  origin: string;
  /** Authorization header for the origin's host. */
  authorization: string | undefined;
  rules: OriginRules;
  /** Resolves names; defaults to the process's own resolver. */
  names?: Names;
}

const mediaType = 'application/vnd.git-lfs+json';
const idleMs = 30_000;
const maxAnswer = 4 * 1024 * 1024;

/**
 * Client of Git LFS's batch protocol (git-lfs, docs/api) for the host of one repository; connects only to addresses
 * permitted for git.
 */
export class LfsClient {
  readonly #options: LfsClientOptions;

  constructor(options: LfsClientOptions) {
    this.#options = options;
  }

  /** Returns download locations of the objects, by OID. Throws when the server lacks one of them. */
  async locate(objects: readonly LfsPointer[]): Promise<Map<string, LfsDownload>> {
    const { origin, authorization } = this.#options;
    const url = new URL(`${origin.replace(/\/+$/, '').replace(/(\.git)?$/, '.git')}/info/lfs/objects/batch`);
    const body = JSON.stringify({ operation: 'download', transfers: ['basic'], hash_algo: 'sha256', objects });
    const headers = {
      accept: mediaType,
      'content-type': mediaType,
      'content-length': String(Buffer.byteLength(body)),
      ...(authorization !== undefined && { authorization }),
    };
    const response = await this.#request('POST', url, headers, body);
    if (response.statusCode !== 200) {
      const { statusCode = 0 } = response;
      response.destroy();
      // A failing host is asked again by a retry of the build; a refusal is final.
      throw new Error(
        statusCode >= 500
          ? `${url.host} did not respond with files of Git LFS, but with status ${statusCode}`
          : `${url.host} has no Git LFS for this repository (${statusCode}). Enable it there, or commit the files themselves`,
      );
    }
    const answer = batchSchema.parse(JSON.parse(await text(limited(response, maxAnswer))));
    const found = new Map<string, LfsDownload>();
    for (const { oid, actions, error } of answer.objects) {
      if (error)
        throw new Error(
          `${url.host} does not provide the large file ${oid}: ${error.code} ${error.message}. Run git lfs push --all`,
        );
      if (actions?.download) found.set(oid, actions.download);
    }
    return found;
  }

  /** Replaces an existing file by the downloaded object. Throws if its size or hash differs from the pointer. */
  async download({ href, header }: LfsDownload, { oid, size }: LfsPointer, path: string): Promise<void> {
    const { origin, authorization } = this.#options;
    const url = new URL(href);
    const isGiven = Object.keys(header).some((name) => name.toLowerCase() === 'authorization');
    const isOwn = url.origin === new URL(origin).origin && !isGiven && authorization !== undefined;
    const response = await this.#request('GET', url, { ...header, ...(isOwn && { authorization }) });
    if (response.statusCode !== 200) {
      response.destroy();
      throw new Error(
        `${url.host} responded with status ${response.statusCode ?? 0} for the large file ${oid}. Check that it can be downloaded there`,
      );
    }
    const hash = createHash('sha256');
    let received = 0;
    const file = await open(path, constants.O_WRONLY | constants.O_TRUNC | constants.O_NOFOLLOW);
    try {
      for await (const chunk of limited(response, size)) {
        hash.update(chunk);
        received += chunk.length;
        await file.writeFile(chunk);
      }
    } finally {
      await file.close();
    }
    if (received !== size || hash.digest('hex') !== oid)
      throw new Error(`${url.host} returned a file other than ${oid}. Run git lfs push --all`);
  }

  #request(method: string, url: URL, headers: Record<string, string>, body?: string): Promise<IncomingMessage> {
    const { rules, names } = this.#options;
    const check = (address: string) => {
      if (!rules.isAddressAllowed(address)) {
        throw new Error(
          `${url.host} has a private or reserved address, which Coppice does not connect to. ${PERMIT_NETWORK}`,
        );
      }
    };
    const start = { 'http:': httpRequest, 'https:': httpsRequest }[url.protocol];
    if (!start || !rules.ports.includes(portOf(url))) {
      return Promise.reject(
        new Error(`${url.protocol}//${url.host} is not an address that Coppice connects to. ${PERMIT_PORT}`),
      );
    }
    checkLiteral(url, check);
    return new Promise((resolve, reject) => {
      const request = start(url, { method, headers, timeout: idleMs, lookup: checkedLookup(check, names) }, resolve);
      request.on('timeout', () => request.destroy(new Error('it sent no data for too long')));
      request.on('error', (error) => reject(new Error(`${url.host} did not respond: ${error.message}`)));
      request.end(body);
    });
  }
}

async function* limited(response: IncomingMessage, maxBytes: number): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new Error(`more than the ${maxBytes} expected bytes`);
    yield chunk;
  }
}
