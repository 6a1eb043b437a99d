import express, { type RequestHandler } from 'express';
import { z } from 'zod';
import type { Endpoint } from '../http/endpoint.ts';
import { holdBody } from '../limits/held-memory.ts';
import { DELIVERY_RESULTS, type Receiver } from './receiver.ts';

const limitBytes = 1024 * 1024;
/** As it was sent, for its signature: not decompressed, whatever its content type. */
const rawBody: RequestHandler = express.raw({ limit: limitBytes, inflate: false, type: () => true });
const held: RequestHandler = (request, response, next) => {
  holdBody(request, response, limitBytes);
  next();
};

/** Where Git hosts deliver: nobody is logged in there, the signature is the proof. */
export function webhookRoutes(receiver: Receiver): Endpoint[] {
  const handle: RequestHandler = async (request, response) => {
    const { type, repoID } = request.params as { type: string; repoID: string };
    // Without a body the parser sets none.
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
