import type { Environment } from '../../crds/environment.ts';
import type { Group } from '../../crds/group.ts';
import type { Repository } from '../../crds/repository.ts';
import type { Caller } from '../auth/caller.ts';
import type { Directory } from '../auth/visibility.ts';
import { asDeleted, isBeingDeleted } from '../cluster/deletion.ts';
import { requireRoom } from '../cluster/object-limits.ts';
import { APPLIED_BY_OTHERS, BELONGS_TO_OTHERS } from '../cluster/ownership.ts';
import type { EnvironmentService } from '../environments/environment-service.ts';
import type { AccountCaps } from '../limits/account-caps.ts';
import type { RequireQuota } from '../environments/group-quota.ts';
import { acceptedRequest } from '../environments/build-view.ts';
import { spawnSchema } from '../environments/environment-parameters.ts';
import { spawnedView, type WebAddress } from '../environments/environment-view.ts';
import { spawnedViewSchema } from '../environments/environment-view-schema.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { Conflict } from '../shared/errors.ts';
import type { SyncRequests } from '../webhooks/sync-requests.ts';
import { renameSchema, repositoryQuerySchema } from './repository-parameters.ts';
import type { RepositoryService } from './repository-service.ts';
import { repositoryView, repositoryViewSchema } from './repository-view.ts';

export interface RepositoryRoutesOptions {
  directory: Directory;
  repositories: RepositoryService;
  environments: EnvironmentService;
  requireQuota: RequireQuota;
  caps: Pick<AccountCaps, 'environment'>;
  syncRequests: Pick<SyncRequests, 'ask'>;
  webAddress: WebAddress;
}

export function repositoryRoutes(options: RepositoryRoutesOptions): Endpoint[] {
  const { directory, repositories, environments, requireQuota, caps, syncRequests, webAddress } = options;
  const path = '/api/repository/{repoID}';
  const find = (caller: Caller, { repoID }: { repoID: string }) => directory.repository(caller, repoID);
  const view = (group: Group, repository: Repository) =>
    repositoryView(group, repository, directory.environments(repository), directory.reusables(repository));

  return [
    endpoint({
      method: 'get',
      path,
      summary: 'Returns a repository with its environments',
      find,
      writes: false,
      query: repositoryQuerySchema,
      answer: repositoryViewSchema,
      run: ({ target: { group, repository }, query }) => {
        const all = view(group, repository);
        return query.environments ? all : { ...all, environments: [] };
      },
    }),
    endpoint({
      method: 'post',
      path,
      summary: 'Changes the display name of a repository; the id does not change',
      find,
      writes: true,
      body: renameSchema,
      answer: repositoryViewSchema,
      also: { 409: `Another repository of the group has the name. ${APPLIED_BY_OTHERS}` },
      run: async ({ target: { group, repository }, body: { name } }) =>
        view(group, await repositories.rename(repository, name)),
    }),
    endpoint({
      method: 'delete',
      path,
      summary: 'Deletes a repository, its environments and credentials',
      find,
      writes: true,
      status: 202,
      answer: repositoryViewSchema,
      also: { 409: BELONGS_TO_OTHERS },
      run: async ({ target: { group, repository } }) => {
        await repositories.remove(repository, directory.environments(repository));
        return view(group, asDeleted(repository));
      },
    }),
    endpoint({
      method: 'post',
      path: `${path}/spawn`,
      summary: 'Creates an environment from a branch, a pull request or a tag',
      find,
      writes: true,
      needs: 'operate',
      body: spawnSchema,
      status: 201,
      answer: spawnedViewSchema,
      also: {
        409: 'The repository is being deleted, or it, its group or the account that created that has reached its limit of environments.',
      },
      run: async ({ target: { group, repository }, body }) => {
        if (isBeingDeleted(repository)) throw new Conflict('the repository is being deleted');
        const answer = (environment: Environment, isReused: boolean) => {
          const accepted = body.build ? acceptedRequest(environment, 'build') : undefined;
          return spawnedView(group, environment, webAddress, { accepted, isReused });
        };
        const reuse = async (environment: Environment) => {
          requireQuota(group, environment);
          return answer(await environments.reuse(environment, body), true);
        };
        const all = directory.environments(repository);
        const there = body.ifExists === 'reuse' ? environments.reusable(all, body) : undefined;
        if (there) return reuse(there);
        requireRoom('the repository', 'environments', all.length);
        requireQuota(group);
        const made = await caps.environment(group, () => environments.spawn(repository, body, all));
        return 'existing' in made ? reuse(made.existing) : answer(made.spawned, false);
      },
    }),
    endpoint({
      method: 'post',
      path: `${path}/sync`,
      summary: 'Synchronizes with the refs at the Git host now',
      find,
      writes: true,
      needs: 'operate',
      status: 202,
      answer: repositoryViewSchema,
      run: async ({ target: { group, repository } }) => {
        await syncRequests.ask(repository);
        return view(group, repository);
      },
    }),
  ];
}
