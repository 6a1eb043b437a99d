import { z } from 'zod';

const name = z.string().meta({ description: 'Name of the Repository.' });
const branch = z.string().meta({ description: 'Branch that its services are from.' });
const commit = z.string().meta({ description: 'Commit that its services are from.' });

/** The commit of another repository that a build includes. */
export const includedCommitSchema = z.object({ name, branch, commit });
export type IncludedCommit = z.infer<typeof includedCommitSchema>;

/** Another repository of the group that the service file includes. */
export const includedRepositorySchema = z.object({
  name,
  branches: z.array(z.string()).meta({
    description: 'The branches that are looked for, in this order.',
    'x-kubernetes-list-type': 'atomic',
  }),
  branch: branch.optional(),
  commit: commit.optional(),
  services: z.array(z.string()).optional().meta({
    description: 'Its services and jobs; absent if it could not be read.',
    'x-kubernetes-list-type': 'atomic',
  }),
});
export type IncludedRepositoryStatus = z.infer<typeof includedRepositorySchema>;

/** Returns the commits of included repositories that were read. */
export function includedCommits(repositories: readonly IncludedRepositoryStatus[] = []): IncludedCommit[] {
  return repositories.flatMap(({ name: of, branch: from, commit: at }) =>
    from === undefined || at === undefined ? [] : [{ name: of, branch: from, commit: at }],
  );
}
