import type { Express } from 'express';
import { z } from 'zod';
import type { Group } from '../../crds/group.ts';
import type { Directory } from '../auth/directory.ts';
import { endpoint, nothing } from '../http/endpoint.ts';
import { nameField } from '../http/parse.ts';
import { addRepositorySchema } from '../repositories/repository-parameters.ts';
import type { RepositoryService } from '../repositories/repository-service.ts';
import { repositoryView } from '../repositories/repository-view.ts';
import { groupResourceName, type GroupService } from './group-service.ts';
import { groupItem, type GroupView } from './group-view.ts';

const createGroupSchema = z.object({
  name: nameField.refine((name) => groupResourceName(name) !== '', { error: 'must contain a letter or a digit' }),
  displayName: nameField.optional(),
});

export interface GroupRoutes {
  directory: Directory;
  groups: GroupService;
  repositories: RepositoryService;
}

export function groupRoutes(app: Express, { directory, groups, repositories }: GroupRoutes): void {
  const view = (group: Group): GroupView => ({
    ...groupItem(group),
    repositories: directory
      .repositories(group)
      .map((repository) => repositoryView(group, repository, directory.environments(repository)))
      .sort(byId),
  });

  app.get(
    '/api/groups',
    endpoint({
      find: nothing,
      writes: false,
      run: ({ caller }) => ({ status: 200, body: directory.groups(caller.user).map(groupItem).sort(byId) }),
    }),
  );

  app.post(
    '/api/groups',
    endpoint({
      find: nothing,
      writes: true,
      body: createGroupSchema,
      run: async ({ caller, body: { name, displayName = name } }) => {
        const group = await groups.create(caller.user, groupResourceName(name), displayName);
        return { status: 201, body: view(group) };
      },
    }),
  );

  app.get(
    '/api/group/:id',
    endpoint({
      find: ({ user }, id) => directory.group(user, id),
      writes: false,
      run: ({ target }) => ({ status: 200, body: view(target) }),
    }),
  );

  app.post(
    '/api/group/:id',
    endpoint({
      find: ({ user }, id) => directory.group(user, id),
      writes: true,
      body: addRepositorySchema,
      run: async ({ target, body }) => {
        await groups.awaitNamespace(target);
        const repository = await repositories.add(target, body);
        return { status: 201, body: repositoryView(target, repository, []) };
      },
    }),
  );
}

function byId(a: { id: string }, b: { id: string }): number {
  return a.id < b.id ? -1 : 1;
}
