import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';

/** Environment variable with the token that readers of /metrics must send (RFC 6750); not required if absent. */
export const metricsTokenField = z.string().min(16, 'must have at least 16 characters').optional();

/** Returns whether the header has the token, in constant time. @param authorization the header */
export function hasMetricsToken(authorization: string | undefined, token: string): boolean {
  const sent = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
  return timingSafeEqual(hashOf(sent), hashOf(token));
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
