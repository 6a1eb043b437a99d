import express, { type RequestHandler } from 'express';
import { z } from 'zod';
import type { Endpoint } from '../http/endpoint.ts';
import { holdBody } from '../limits/held-memory.ts';
import { DELIVERY_RESULTS, type Receiver } from './receiver.ts';

const limitBytes = 1024 * 1024;
/** Reads the body as it was signed: not decompressed, whatever its content type. */
const rawBody: RequestHandler = express.raw({ limit: limitBytes, inflate: false, type: () => true });
const held: RequestHandler = (request, response, next) => {
  holdBody(request, response, limitBytes);
  next();
};

/** Returns the route for deliveries of Git hosts, which the signature authenticates instead of a token. */
export function webhookRoutes(receiver: Receiver): Endpoint[] {
  const handle: RequestHandler = async (request, response) => {
    const { type, repoID } = request.params as { type: string; repoID: string };
    // Undefined for a request without a body.
    const body: unknown = request.body;
    const raw = { header: (name: string) => request.get(name), body: Buffer.isBuffer(body) ? body : Buffer.alloc(0) };
    response.status(202).json({ result: await receiver.receive(type, repoID, raw) });
  };
  return [
    {
      method: 'post',
      path: '/api/webhooks/{type}/{repoID}',
      summary: 'Receives webhook deliveries of Git hosts (extension)',
      description:
        "The body has the format of this type of host and is signed with the secret in the repository's settings.",
      isOpen: true,
      writes: true,
      status: 202,
      answer: z.object({ result: z.enum(DELIVERY_RESULTS) }),
      also: {
        401: 'The delivery is not signed with the secret of such a repository.',
        413: 'The body is too large.',
        422: 'The body cannot be read.',
      },
      handle: [held, rawBody, handle],
    },
  ];
}
