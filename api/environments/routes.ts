import type { Express, Request } from 'express';
import type { Authenticator } from '../auth/authenticate.ts';
import { callerOf, type Caller } from '../auth/caller.ts';
import type { Directory } from '../auth/directory.ts';
import { endpoint } from '../http/endpoint.ts';
import { NotFound } from '../http/errors.ts';
import { isCrossOrigin } from '../http/origin.ts';
import { parse } from '../http/parse.ts';
import type { WebSockets } from '../http/web-sockets.ts';
import { createContentsSchema, logQuerySchema, readSchema } from './environment-parameters.ts';
import type { EnvironmentService } from './environment-service.ts';
import { environmentView, type WebAddress } from './environment-view.ts';
import { streamLog, type LogStreamDependencies } from './log-stream.ts';

export interface EnvironmentRoutes {
  directory: Directory;
  environments: EnvironmentService;
  webAddress: WebAddress;
  /** This API's own, as browsers see it: `https://coppice.example.com`. */
  ownOrigin: string;
}

export function environmentRoutes(app: Express, dependencies: EnvironmentRoutes): void {
  const { directory, environments, webAddress, ownOrigin } = dependencies;
  const path = '/api/environment/:id';
  const find = ({ user }: Caller, id: string) => directory.environment(user, id);

  app.get(
    path,
    endpoint({
      find,
      writes: false,
      query: readSchema,
      run: async ({ caller, target: { group, environment }, query, request }) => {
        const mayBuild = query.build && mayStartBuild(request, caller, ownOrigin);
        const now = mayBuild ? await environments.buildOnRead(environment) : environment;
        return { status: 200, body: environmentView(group, now, webAddress) };
      },
    }),
  );

  app.put(
    path,
    endpoint({
      find,
      writes: true,
      body: createContentsSchema,
      query: createContentsSchema,
      run: async ({ target: { group, environment }, body, query }) => {
        const wanted = { build: body.build ?? query.build ?? true, ttl: body.ttl ?? query.ttl };
        const now = await environments.createContents(environment, wanted);
        return { status: 202, body: environmentView(group, now, webAddress) };
      },
    }),
  );

  app.delete(
    path,
    endpoint({
      find,
      writes: true,
      run: async ({ target: { group, environment } }) => {
        const now = await environments.deleteContents(environment);
        return { status: 202, body: environmentView(group, now, webAddress) };
      },
    }),
  );

  app.post(
    `${path}/build`,
    endpoint({
      find,
      writes: true,
      run: async ({ target: { group, environment } }) => {
        const now = await environments.build(environment);
        return { status: 202, body: environmentView(group, now, webAddress) };
      },
    }),
  );
}

/** HEAD, a read-only token, and a cookie that another site made the browser send, never start a build. */
function mayStartBuild(request: Request, { readOnly, credential }: Caller, ownOrigin: string): boolean {
  if (request.method !== 'GET' || readOnly) return false;
  return credential.source === 'header' || !isCrossOrigin(request, ownOrigin);
}

export interface LogRoutes extends LogStreamDependencies {
  directory: Directory;
  authenticator: Authenticator;
  webSockets: WebSockets;
}

/** The log stream; its parameters are ours: `?build=` names one by its number, `?from=` takes one up again. */
export function logRoutes(app: Express, dependencies: LogRoutes): void {
  const { directory, authenticator, webSockets } = dependencies;

  app.get('/api/environment/:id/build/logs', (request, response) => {
    const caller = callerOf(response);
    const { group, environment } = directory.environment(caller.user, request.params.id);
    const { build, from } = parse(logQuerySchema, request.query, 'the query');
    if (build !== undefined && build > (environment.status?.build?.number ?? 0)) throw new NotFound('no such build');
    const mayRead = async () => {
      const now = await authenticator.authenticate(caller.credential);
      return (
        now !== undefined && directory.groups(now.user).some(({ metadata }) => metadata.name === group.metadata.name)
      );
    };
    void streamLog(webSockets.accept(request, response), { environment, build, from, mayRead }, dependencies);
  });
}
