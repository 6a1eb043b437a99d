import { z } from 'zod';
import type { EnvironmentStatus } from '../../crds/environment.ts';
import { formatId } from '../../crds/ids.ts';
import { includedCommits } from '../../crds/included-repository.ts';

/** Another repository whose services an environment includes. */
export const includedViewSchema = z.object({
  id: z.string().meta({ description: 'The id of the repository.' }),
  branch: z.string().optional().meta({ description: 'The branch that its services are from.' }),
  commit: z.string().optional().meta({
    description: 'The deployed commit or, before the first build, the one that is set up; absent if there is none.',
  }),
  branches: z.array(z.string()).optional().meta({ description: 'The branches that are looked for, in this order.' }),
  services: z.array(z.string()).optional().meta({ description: 'Its services and jobs.' }),
});
export type IncludedView = z.infer<typeof includedViewSchema>;

/** Returns the included repositories of an environment, by name. */
export function includedViews(group: string, { repositories = [], deployed }: EnvironmentStatus = {}): IncludedView[] {
  const commits = new Map(
    (deployed ? (deployed.repositories ?? []) : includedCommits(repositories)).map((one) => [one.name, one]),
  );
  const names = [...new Set([...repositories.map(({ name }) => name), ...commits.keys()])].sort();
  return names.map((name) => {
    const { branch, commit } = commits.get(name) ?? {};
    const { branches, services } = repositories.find((one) => one.name === name) ?? {};
    return {
      id: formatId({ group, name }),
      ...(branch !== undefined && { branch }),
      ...(commit !== undefined && { commit }),
      ...(branches && { branches }),
      ...(services && { services }),
    };
  });
}
