import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { portOf } from '../../source/network/addresses.ts';
import type { OriginRules } from '../../source/network/addresses.ts';
import { checkedLookup, checkLiteral } from '../../source/network/checked-lookup.ts';
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
  /** The Git repository's address; the server is found from it, and nothing in the repository says otherwise. */
  origin: string;
  /** The value of an Authorization header for the origin's host. */
  authorization: string | undefined;
  rules: OriginRules;
}

const mediaType = 'application/vnd.git-lfs+json';
const idleMs = 30_000;
const maxAnswer = 4 * 1024 * 1024;

/** Speaks Git LFS's batch protocol (git-lfs, docs/api) with the host of one repository; connects as git itself may. */
export class LfsClient {
  readonly #options: LfsClientOptions;

  constructor(options: LfsClientOptions) {
    this.#options = options;
  }

  /** Where the objects are to be had, by oid. Throws for one that the server does not have. */
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
      // A host that is failing is asked again, by a new try of the build; one that says no is not.
      const what = statusCode >= 500 ? 'did not respond for Git LFS' : 'has no Git LFS for this repository';
      throw new Error(`${url.host} ${what}: it responded with ${statusCode}`);
    }
    const answer = batchSchema.parse(JSON.parse(await text(limited(response, maxAnswer))));
    const found = new Map<string, LfsDownload>();
    for (const { oid, actions, error } of answer.objects) {
      if (error) throw new Error(`${url.host} does not provide the large file ${oid}: ${error.code} ${error.message}`);
      if (actions?.download) found.set(oid, actions.download);
    }
    return found;
  }

  /** Puts the object in the place of the file, which must be there. Throws unless it is what the pointer says. */
  async download({ href, header }: LfsDownload, { oid, size }: LfsPointer, path: string): Promise<void> {
    const { origin, authorization } = this.#options;
    const url = new URL(href);
    const isGiven = Object.keys(header).some((name) => name.toLowerCase() === 'authorization');
    const isOwn = url.origin === new URL(origin).origin && !isGiven && authorization !== undefined;
    const response = await this.#request('GET', url, { ...header, ...(isOwn && { authorization }) });
    if (response.statusCode !== 200) {
      response.destroy();
      throw new Error(`${url.host} answered ${response.statusCode ?? 0} for the large file ${oid}`);
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
      throw new Error(`${url.host} returned a file other than ${oid}`);
  }

  #request(method: string, url: URL, headers: Record<string, string>, body?: string): Promise<IncomingMessage> {
    const { rules } = this.#options;
    const check = (address: string) => {
      if (!rules.isAddressAllowed(address)) {
        throw new Error(`${url.host} has a private or reserved address, which Coppice does not connect to`);
      }
    };
    const start = { 'http:': httpRequest, 'https:': httpsRequest }[url.protocol];
    if (!start || !rules.ports.includes(portOf(url))) {
      return Promise.reject(new Error(`${url.protocol}//${url.host} is not an address that Coppice connects to`));
    }
    checkLiteral(url, check);
    return new Promise((resolve, reject) => {
      const request = start(url, { method, headers, timeout: idleMs, lookup: checkedLookup(check) }, resolve);
      request.on('timeout', () => request.destroy(new Error('it was silent for too long')));
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
