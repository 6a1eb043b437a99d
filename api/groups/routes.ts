import { z } from 'zod';
import type { Group } from '../../crds/group.ts';
import type { Repository } from '../../crds/repository.ts';
import type { Caller } from '../auth/caller.ts';
import type { Directory } from '../auth/visibility.ts';
import { asDeleted } from '../cluster/deletion.ts';
import { requireRoom } from '../cluster/object-limits.ts';
import { BELONGS_TO_OTHERS } from '../cluster/ownership.ts';
import { endpoint, nothing, type Endpoint } from '../http/endpoint.ts';
import { nameField } from '../http/parse.ts';
import type { AccountCaps } from '../limits/account-caps.ts';
import { addRepositorySchema } from '../repositories/repository-parameters.ts';
import type { RepositoryService } from '../repositories/repository-service.ts';
import { repositoryView, repositoryViewSchema } from '../repositories/repository-view.ts';
import { groupResourceName, type GroupService } from './group-service.ts';
import type { MemberService } from './member-service.ts';
import { groupItem, groupItemSchema, groupViewSchema, type GroupView } from './group-view.ts';

const createGroupSchema = z.object({
  name: nameField.refine((name) => groupResourceName(name) !== '', { error: 'must contain a letter or a digit' }),
  displayName: nameField.optional(),
});

export interface GroupRoutesOptions {
  directory: Directory;
  groups: GroupService;
  repositories: RepositoryService;
  members: Pick<MemberService, 'requireOwner'>;
  caps: AccountCaps;
  /** Requests a sync of the refs of a repository. */
  requestSync: (repository: Repository) => Promise<void>;
}

export function groupRoutes(options: GroupRoutesOptions): Endpoint[] {
  const { directory, groups, repositories, members, caps, requestSync } = options;
  const path = '/api/group/{groupID}';
  const find = (caller: Caller, { groupID }: { groupID: string }) => directory.group(caller, groupID);
  const view = (group: Group): GroupView => ({
    ...groupItem(group),
    repositories: directory
      .repositories(group)
      .map((repository) =>
        repositoryView(group, repository, directory.environments(repository), directory.reusables(repository)),
      )
      .sort(byId),
  });

  return [
    endpoint({
      method: 'get',
      path: '/api/groups',
      summary: 'Lists the groups that the caller sees',
      find: nothing,
      writes: false,
      answer: z.array(groupItemSchema),
      run: ({ caller }) => directory.groups(caller).map(groupItem).sort(byId),
    }),
    endpoint({
      method: 'post',
      path: '/api/groups',
      summary: 'Creates a group (extension)',
      description: 'The id is derived from `name`. Waits up to 10 s for the namespace.',
      find: nothing,
      writes: true,
      isOfAccount: true,
      body: createGroupSchema,
      status: 201,
      answer: groupViewSchema,
      also: { 409: 'The name is taken, the group cannot be set up, or the account has created too many.' },
      run: async ({ caller: { user }, body: { name, displayName = name } }) => {
        const create = () => groups.create(user, groupResourceName(name), displayName);
        return view(await caps.group(user.accountId, create));
      },
    }),
    endpoint({
      method: 'get',
      path,
      summary: 'Returns a group with its repositories',
      find,
      writes: false,
      answer: groupViewSchema,
      run: ({ target }) => view(target),
    }),
    endpoint({
      method: 'post',
      path,
      summary: 'Adds a repository to the group',
      description:
        'Waits up to 10 s for the Git host. A repository that cannot be used is not kept; the response is 422.',
      find,
      writes: true,
      body: addRepositorySchema,
      status: 201,
      answer: repositoryViewSchema,
      also: {
        409: 'The name is taken, the group is being deleted, or the group or the account that created it has reached its limit of repositories.',
      },
      run: async ({ target, body }) => {
        requireRoom('the group', 'repositories', directory.repositories(target).length);
        await groups.awaitNamespace(target);
        const added = await caps.repository(target, () => repositories.add(target, body));
        // After the check, so that a slow list of refs does not delay the answer.
        if (body.sync) await requestSync(added);
        return repositoryView(target, added, [], []);
      },
    }),
    endpoint({
      method: 'delete',
      path,
      summary: 'Deletes a group with its repositories and environments (extension)',
      find,
      writes: true,
      status: 202,
      answer: groupViewSchema,
      also: { 403: 'The token does not permit this, or the caller is not an owner.', 409: BELONGS_TO_OTHERS },
      run: async ({ caller: { user }, target }) => {
        members.requireOwner(target, user.email, 'delete it');
        await groups.remove(target, [...directory.repositories(target), ...directory.environmentsIn(target)]);
        return view(asDeleted(target));
      },
    }),
  ];
}

function byId(a: { id: string }, b: { id: string }): number {
  return a.id < b.id ? -1 : 1;
}
