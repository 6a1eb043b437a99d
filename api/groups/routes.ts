import { z } from 'zod';
import type { Group } from '../../crds/group.ts';
import type { Caller } from '../auth/caller.ts';
import type { Directory } from '../auth/directory.ts';
import { requireRoom } from '../cluster/most.ts';
import { endpoint, nothing, type Endpoint } from '../http/endpoint.ts';
import { nameField } from '../http/parse.ts';
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

export interface GroupRoutes {
  directory: Directory;
  groups: GroupService;
  repositories: RepositoryService;
  members: Pick<MemberService, 'requireOwner'>;
}

export function groupRoutes({ directory, groups, repositories, members }: GroupRoutes): Endpoint[] {
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
      summary: 'The groups that the caller sees',
      find: nothing,
      writes: false,
      answer: z.array(groupItemSchema),
      run: ({ caller }) => directory.groups(caller).map(groupItem).sort(byId),
    }),
    endpoint({
      method: 'post',
      path: '/api/groups',
      summary: 'Creates a group (ours)',
      description: 'Its id is made of `name`. Waits up to 10 s for its namespace.',
      find: nothing,
      writes: true,
      isOfAccount: true,
      body: createGroupSchema,
      status: 201,
      answer: groupViewSchema,
      also: { 409: 'The name is taken, the group cannot be set up, or the account made too many.' },
      run: async ({ caller: { user }, body: { name, displayName = name } }) => {
        requireRoom('your account', 'groups', directory.madeBy(user).length);
        return view(await groups.create(user, groupResourceName(name), displayName));
      },
    }),
    endpoint({
      method: 'get',
      path,
      summary: 'A group with its repositories',
      find,
      writes: false,
      answer: groupViewSchema,
      run: ({ target }) => view(target),
    }),
    endpoint({
      method: 'post',
      path,
      summary: 'Adds a repository to the group',
      description: 'Waits up to 10 s for what its Git host says. One that cannot be used answers 422, and is not kept.',
      find,
      writes: true,
      body: addRepositorySchema,
      status: 201,
      answer: repositoryViewSchema,
      also: { 409: 'The name is taken, the group is being deleted, or it has too many repositories.' },
      run: async ({ target, body }) => {
        requireRoom('the group', 'repositories', directory.repositories(target).length);
        await groups.awaitNamespace(target);
        return repositoryView(target, await repositories.add(target, body), [], []);
      },
    }),
    endpoint({
      method: 'delete',
      path,
      summary: 'Deletes a group, its repositories and environments (ours)',
      find,
      writes: true,
      status: 202,
      answer: groupViewSchema,
      also: { 403: 'A token that may not, or a caller who is not an owner.' },
      run: async ({ caller: { user }, target }) => {
        members.requireOwner(target, user.email, 'delete it');
        await groups.remove(target);
        return view(target);
      },
    }),
  ];
}

function byId(a: { id: string }, b: { id: string }): number {
  return a.id < b.id ? -1 : 1;
}
