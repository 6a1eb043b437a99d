import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Request, Response } from 'express';
import { sendBytes } from '../limits/held-memory.ts';

const compress = promisify(gzip);
const bestCompression = 9;

interface Encoded {
  identity: Buffer;
  gzip: Buffer;
}

/** A response that is the same for all clients. It is read and compressed once, on the first request. */
export class StaticText {
  readonly #type: string;
  readonly #read: () => Promise<Buffer> | Buffer;
  #encoded: Promise<Encoded> | undefined;

  /** @param type its media type, or its file name extension */
  constructor(type: string, read: () => Promise<Buffer> | Buffer) {
    this.#type = type;
    this.#read = read;
  }

  /** @throws TooManyRequests, Unavailable while clients leave too many responses unread */
  async send(request: Request, response: Response): Promise<void> {
    this.#encoded ??= this.#encode();
    const encoded = await this.#encoded;
    const encoding = request.acceptsEncodings('gzip', 'identity') === 'gzip' ? 'gzip' : 'identity';
    sendBytes(request, response, encoded[encoding], {
      'Content-Type': this.#type,
      Vary: 'Accept-Encoding',
      ...(encoding === 'gzip' && { 'Content-Encoding': encoding }),
    });
  }

  async #encode(): Promise<Encoded> {
    try {
      const identity = await this.#read();
      return { identity, gzip: await compress(identity, { level: bestCompression }) };
    } catch (error) {
      this.#encoded = undefined;
      throw error;
    }
  }
}
