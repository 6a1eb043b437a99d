import { z } from 'zod';

const pullRequestSchema = z.object({
  number: z.int(),
  labels: z.array(z.string()).optional(),
  targetBranch: z.string().optional(),
  sourceBranch: z.string().optional(),
  isDraft: z.boolean().optional(),
  isFork: z.boolean().optional(),
  author: z.object({ isMember: z.boolean(), hasContributed: z.boolean().optional() }).optional(),
});

/**
 * The refs that the last sync of a Repository listed, as far as they fit, with what rules decide by. The operator keeps
 * it in Redis for the API, which has no credentials of Git hosts.
 */
export const refSnapshotSchema = z.object({
  /** When the refs were listed; RFC 3339. */
  at: z.string(),
  branches: z.array(z.string()),
  /** Newest first. */
  tags: z.array(z.string()),
  /** Open ones, newest first. */
  pullRequests: z.array(pullRequestSchema),
  /** Number of refs that did not fit. */
  leftOut: z.object({ branches: z.int(), tags: z.int(), pullRequests: z.int() }),
});
export type RefSnapshot = z.infer<typeof refSnapshotSchema>;

/** Returns the key in Redis. */
export function refSnapshotKey(repositoryUid: string): string {
  return `coppice:refs:${repositoryUid}`;
}
