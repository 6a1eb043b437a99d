import { REUSABLE_ENVIRONMENT } from '../../crds/reusable-environment.ts';
import type { Directory } from '../auth/visibility.ts';
import type { ClusterWriter } from '../cluster/caches.ts';
import { BELONGS_TO_OTHERS, deleteOwn } from '../cluster/ownership.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { repositoryView, repositoryViewSchema } from './repository-view.ts';

export interface ReusableRoutesOptions {
  directory: Directory;
  cluster: Pick<ClusterWriter, 'find' | 'delete'>;
}

/** Returns the route to delete reusable environments, which builds publish. */
export function reusableRoutes({ directory, cluster }: ReusableRoutesOptions): Endpoint[] {
  return [
    endpoint({
      method: 'delete',
      path: '/api/repository/{repoID}/reusable/{reusableLabel}',
      summary: 'Deletes a reusable environment; environments seeded from it keep their data',
      find: (caller, { repoID, reusableLabel }) => directory.reusable(caller, repoID, reusableLabel),
      writes: true,
      needs: 'operate',
      status: 202,
      answer: repositoryViewSchema,
      also: { 409: BELONGS_TO_OTHERS },
      run: async ({ target: { group, repository, reusable } }) => {
        await deleteOwn(cluster, REUSABLE_ENVIRONMENT, reusable);
        const left = directory.reusables(repository).filter(({ spec }) => spec.label !== reusable.spec.label);
        return repositoryView(group, repository, directory.environments(repository), left);
      },
    }),
  ];
}
