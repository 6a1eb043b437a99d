import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';

/** What whoever reads /metrics must send (RFC 6750), of the environment; absent: nothing. */
export const metricsTokenField = z.string().min(16, 'must have at least 16 characters').optional();

/** @param authorization the header @returns whether it has the token, in a time that does not tell where it differs */
export function hasMetricsToken(authorization: string | undefined, token: string): boolean {
  const sent = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
  return timingSafeEqual(hashOf(sent), hashOf(token));
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
