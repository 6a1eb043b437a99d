import type { Repository } from '../../crds/repository.ts';
import type { Caller } from '../auth/caller.ts';
import type { Directory } from '../auth/visibility.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import type { RefSnapshots } from './ref-snapshots.ts';
import { checkRules, rulesCheckSchema, rulesCheckViewSchema, type RulesCheck } from './rules-check.ts';

export interface RulesRoutesOptions {
  directory: Directory;
  snapshots: Pick<RefSnapshots, 'of'>;
}

/** Returns the routes (extensions) that report what rules for automatic environments match. They change nothing. */
export function rulesRoutes({ directory, snapshots }: RulesRoutesOptions): Endpoint[] {
  const find = (caller: Caller, { repoID }: { repoID: string }) => directory.repository(caller, repoID).repository;
  const checked = async (repository: Repository, given: Partial<RulesCheck>) =>
    checkRules(given, repository, await snapshots.of(repository), directory.environments(repository));
  return [
    endpoint({
      method: 'get',
      path: '/api/repository/{repoID}/rules',
      summary: "Returns which refs the repository's rules for automatic environments match, and why (extension)",
      find,
      writes: false,
      answer: rulesCheckViewSchema,
      run: ({ target }) => checked(target, {}),
    }),
    endpoint({
      method: 'post',
      path: '/api/repository/{repoID}/rules/check',
      summary: 'Returns which refs these rules would match, and why, without storing them (extension)',
      find,
      writes: false,
      body: rulesCheckSchema,
      answer: rulesCheckViewSchema,
      run: ({ target, body }) => checked(target, body),
    }),
  ];
}
