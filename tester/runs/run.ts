import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';

/** As Redis has it. A run is `queued` until it starts; callers see that as running. */
export const stateSchema = z.enum(['queued', 'running', 'failed', 'finished']);
export type State = z.infer<typeof stateSchema>;

/** What a run is made with. */
export interface NewRun {
  id: string;
  /** SHA-256 of its Secret. */
  secretHash: string;
  type: string;
  params: unknown;
  group: string;
  /** The account that created the group; the group itself where that is not known. */
  tenant: string;
}

export interface RunStatus {
  state: State;
  /** Why it failed. */
  message?: string | undefined;
}

export const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** Whether this is the secret of that hash, in constant time; of no hash none is. */
export function isSecretOf(secret: string, hash: string | undefined): boolean {
  const isEqual = timingSafeEqual(Buffer.from(hashOf(secret)), Buffer.from(hash ?? hashOf('')));
  return isEqual && hash !== undefined;
}
