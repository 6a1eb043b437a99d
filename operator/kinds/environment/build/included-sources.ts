import type { IncludedSource } from '../../../images/build/build-request.ts';
import { Stalled } from '../../../shared/errors.ts';
import type { Revision } from '../revision/revision.ts';
import type { EnvironmentScope } from '../scope/scope.ts';

/**
 * Returns from where the images of included repositories are built. @throws Stalled if one can no longer be included,
 * and what RepositoryConfigurations.read throws
 */
export function includedSources(
  scope: EnvironmentScope,
  { repositories = [] }: Pick<Revision, 'repositories'>,
): Promise<IncludedSource[]> {
  return Promise.all(
    repositories.map(async ({ name, branch = '', commit = '' }) => {
      if (!scope.canInclude(name) || scope.opensFurther(name)) {
        const message = `the included repository ${name} was removed, or can no longer be included. Request a build`;
        throw new Stalled('IncludedRepositoryNotFound', message);
      }
      const { repositoryUid, host } = await scope.reads.other(name);
      return {
        name,
        // Without variables a build can give another result: the values of build secrets are not part of an address.
        repositoryUid: scope.mayBeFork ? `${repositoryUid} without variables` : repositoryUid,
        location: { access: host.access, refName: `refs/heads/${branch}` },
        commit,
      };
    }),
  );
}
