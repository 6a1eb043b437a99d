import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';
import { z } from 'zod';
import { sendLine } from './lines.ts';

export type Side = 'operator' | 'waker';

const greetingSchema = z.object({ nonce: z.string().min(32).max(128) });
const proofSchema = z.object({ proof: z.string().max(128) });

/**
 * Proves to each other that both sides have the key, without sending it: an address of a former waker can belong to
 * somebody else by now. @throws Error if the other side does not have the key
 * @param lines the lines that the socket receives
 */
export async function shakeHands(side: Side, socket: Socket, lines: AsyncGenerator, key: string): Promise<void> {
  const nonce = randomBytes(32).toString('base64url');
  sendLine(socket, { nonce });
  const { nonce: theirs } = greetingSchema.parse((await lines.next()).value);
  const proofOf = (who: Side) => {
    const [operator, waker] = side === 'operator' ? [nonce, theirs] : [theirs, nonce];
    return createHmac('sha256', key).update(`${who} ${operator} ${waker}`).digest('base64url');
  };
  sendLine(socket, { proof: proofOf(side) });
  const { proof } = proofSchema.parse((await lines.next()).value);
  if (!isSame(proof, proofOf(side === 'operator' ? 'waker' : 'operator'))) {
    throw new Error('the other side does not have the key of the waker');
  }
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
