import { REUSABLE_ENVIRONMENT } from '../../crds/reusable-environment.ts';
import type { Directory } from '../auth/directory.ts';
import type { ClusterWriter } from '../cluster/caches.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { repositoryView, repositoryViewSchema } from './repository-view.ts';

export interface ReusableRoutes {
  directory: Directory;
  cluster: Pick<ClusterWriter, 'delete'>;
}

/** Contract section 4: reusable environments are made by builds, and deleted here. */
export function reusableRoutes({ directory, cluster }: ReusableRoutes): Endpoint[] {
  return [
    endpoint({
      method: 'delete',
      path: '/api/repository/{repoID}/reusable/{reusableLabel}',
      summary: 'Deletes a reusable environment; what began with it keeps what it has',
      find: (caller, { repoID, reusableLabel }) => directory.reusable(caller, repoID, reusableLabel),
      writes: true,
      needs: 'operate',
      status: 202,
      answer: repositoryViewSchema,
      run: async ({ target: { group, repository, reusable } }) => {
        const { namespace, name, uid } = reusable.metadata;
        await cluster.delete(REUSABLE_ENVIRONMENT, { namespace, name }, { uid });
        const left = directory.reusables(repository).filter(({ spec }) => spec.label !== reusable.spec.label);
        return repositoryView(group, repository, directory.environments(repository), left);
      },
    }),
  ];
}
