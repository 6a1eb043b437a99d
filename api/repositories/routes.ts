import type { Express } from 'express';
import type { Directory } from '../auth/directory.ts';
import type { EnvironmentService } from '../environments/environment-service.ts';
import { spawnSchema } from '../environments/environment-parameters.ts';
import { spawnedView, type WebAddress } from '../environments/environment-view.ts';
import { endpoint } from '../http/endpoint.ts';
import { repositoryView } from './repository-view.ts';

export interface RepositoryRoutes {
  directory: Directory;
  environments: EnvironmentService;
  webAddress: WebAddress;
}

export function repositoryRoutes(app: Express, { directory, environments, webAddress }: RepositoryRoutes): void {
  app.get(
    '/api/repository/:id',
    endpoint({
      find: ({ user }, id) => directory.repository(user, id),
      writes: false,
      run: ({ target: { group, repository } }) => ({
        status: 200,
        body: repositoryView(group, repository, directory.environments(repository)),
      }),
    }),
  );

  app.post(
    '/api/repository/:id/spawn',
    endpoint({
      find: ({ user }, id) => directory.repository(user, id),
      writes: true,
      body: spawnSchema,
      run: async ({ target: { group, repository }, body }) => {
        const environment = await environments.spawn(repository, body);
        return { status: 201, body: spawnedView(group, environment, webAddress) };
      },
    }),
  );
}
