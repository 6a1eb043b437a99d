import { z } from 'zod';
import { isSameText } from './same-text.ts';

/** Environment variable with the token that readers of /metrics must send (RFC 6750); not required if absent. */
export const metricsTokenField = z.string().min(16, 'must have at least 16 characters').optional();

/** Returns whether the header has the token, in constant time. @param authorization the header */
export function hasMetricsToken(authorization: string | undefined, token: string): boolean {
  const sent = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
  return isSameText(sent, token);
}
