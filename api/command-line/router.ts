import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import express, { type Router } from 'express';
import { StaticText } from '../http/static-text.ts';

/** The bundled command line in memory. */
export interface CommandLine {
  bytes: Buffer;
  /** SHA-256 in hexadecimal. */
  hash: string;
}

/** Reads the command line as cli/build.ts writes it; undefined if it is not built. */
export function readCommandLine(path: string): CommandLine | undefined {
  if (!existsSync(path)) return undefined;
  const bytes = readFileSync(path);
  return { bytes, hash: createHash('sha256').update(bytes).digest('hex') };
}

const aYear = 365 * 24 * 3600;

/**
 * Serves the command line that fits this server, and its SHA-256 in the form of sha256sum. The address that contains the
 * hash never has other content.
 */
export function commandLineRouter({ bytes, hash }: CommandLine): Router {
  const router = express.Router({ caseSensitive: true });
  const file = new StaticText('text/javascript; charset=utf-8', () => bytes);
  const sum = new StaticText('text/plain; charset=utf-8', () => Buffer.from(`${hash}  coppice.mjs\n`));
  router.get('/cli/coppice.mjs', async (request, response) => {
    response.setHeader('Cache-Control', 'no-cache');
    await file.send(request, response);
  });
  router.get('/cli/coppice.mjs.sha256', async (request, response) => {
    response.setHeader('Cache-Control', 'no-cache');
    await sum.send(request, response);
  });
  router.get(`/cli/${hash}/coppice.mjs`, async (request, response) => {
    response.setHeader('Cache-Control', `public, max-age=${aYear}, immutable`);
    await file.send(request, response);
  });
  return router;
}
