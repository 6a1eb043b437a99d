import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';

/** State in Redis. A run is `queued` until it starts; callers see that as running. */
export const stateSchema = z.enum(['queued', 'running', 'failed', 'finished']);
export type State = z.infer<typeof stateSchema>;

/** Parameters of a new run. */
export interface NewRun {
  id: string;
  /** SHA-256 of its Secret. */
  secretHash: string;
  type: string;
  params: unknown;
  headers?: Readonly<Record<string, string>> | undefined;
  group: string;
  /** The account that created the group; the group itself if that is unknown. */
  tenant: string;
}

export interface RunStatus {
  state: State;
  /** Why the run failed. */
  message?: string | undefined;
}

export const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** Compares a secret with a hash in constant time; false without a hash. */
export function isSecretOf(secret: string, hash: string | undefined): boolean {
  const isEqual = timingSafeEqual(Buffer.from(hashOf(secret)), Buffer.from(hash ?? hashOf('')));
  return isEqual && hash !== undefined;
}
