import type { Environment } from '../../../crds/environment.ts';
import type { AccessKey } from '../../../environment-access/keys.ts';
import { ACCESS_HEADER, sealAccess } from '../../../environment-access/tokens.ts';

/** A test ends an hour after it was requested. */
const validSeconds = 65 * 60;

/** Returns the headers with which tests can open an environment with restricted access; none for a public one. */
export function testHeaders(
  { metadata: { uid }, status }: Environment,
  keys: readonly AccessKey[],
  now: Date,
): Record<string, string> {
  if (status?.access === undefined || uid === undefined) return {};
  const at = Math.floor(now.getTime() / 1000);
  const grant = { kind: 'test' } as const;
  const claims = { use: 'environment', host: '', environment: uid, grant, expiresAt: at + validSeconds } as const;
  return { [ACCESS_HEADER]: sealAccess(claims, keys, at) };
}
