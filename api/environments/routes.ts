import type { Request } from 'express';
import type { Environment } from '../../crds/environment.ts';
import { permits } from '../auth/access.ts';
import type { Caller } from '../auth/caller.ts';
import type { Directory, EnvironmentTarget } from '../auth/visibility.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { APPLIED_BY_OTHERS } from '../cluster/ownership.ts';
import { isCrossOrigin } from '../auth/origin.ts';
import { acceptedRequest } from './build-view.ts';
import {
  approveSchema,
  changeEnvironmentSettingsSchema,
  createContentsSchema,
  readSchema,
  ttlSchema,
} from './environment-parameters.ts';
import type { EnvironmentService } from './environment-service.ts';
import type { settingsChanger } from './environment-settings.ts';
import type { RequireQuota } from './group-quota.ts';
import { environmentView, type WebAddress } from './environment-view.ts';
import { environmentViewSchema, type EnvironmentView } from './environment-view-schema.ts';

export interface EnvironmentRoutesOptions {
  directory: Directory;
  environments: EnvironmentService;
  changeSettings: ReturnType<typeof settingsChanger>;
  requireQuota: RequireQuota;
  webAddress: WebAddress;
  /** Origin of this API, as browsers see it: `https://coppice.example.com`. */
  ownOrigin: string;
}

export function environmentRoutes(options: EnvironmentRoutesOptions): Endpoint[] {
  const { directory, environments, changeSettings, requireQuota, webAddress, ownOrigin } = options;
  const path = '/api/environment/{environmentID}';
  const find = (caller: Caller, { environmentID }: { environmentID: string }) =>
    directory.environment(caller, environmentID);
  const view = async (
    { group, environment }: EnvironmentTarget,
    change: (environment: Environment) => Environment | Promise<Environment>,
    request?: Parameters<typeof acceptedRequest>[1],
  ): Promise<EnvironmentView> => {
    const changed = await change(environment);
    return environmentView(group, changed, webAddress, request && acceptedRequest(changed, request));
  };

  return [
    endpoint({
      method: 'get',
      path,
      summary: 'Returns an environment with its services',
      description:
        'Starts a build if the environment is `created` and no build has been requested since, unless `build=false`.',
      find,
      writes: false,
      query: readSchema,
      answer: environmentViewSchema,
      run: ({ caller, target, query, request }) =>
        view(target, (environment) =>
          query.build && canStartBuild(request, caller, ownOrigin)
            ? environments.buildOnRead(environment)
            : environment,
        ),
    }),
    endpoint({
      method: 'put',
      path,
      summary: "Creates the environment's contents, and builds them",
      description: 'Parameters are read from the query or the body; the body takes precedence.',
      find,
      writes: true,
      needs: 'operate',
      body: createContentsSchema,
      query: createContentsSchema,
      status: 202,
      answer: environmentViewSchema,
      also: {
        409: 'The environment is not `empty` or is being deleted, or the group has reached its limit of active environments.',
      },
      run: ({ target, body, query }) => {
        const wanted = { build: body.build ?? query.build ?? true, ttl: body.ttl ?? query.ttl };
        const change = (environment: Environment) => {
          requireQuota(target.group, environment);
          return environments.createContents(environment, wanted);
        };
        return view(target, change, wanted.build ? 'build' : 'create');
      },
    }),
    endpoint({
      method: 'delete',
      path,
      summary: "Deletes the environment's contents; the last object of a ref is kept, unless the ref never existed",
      find,
      writes: true,
      needs: 'operate',
      status: 202,
      answer: environmentViewSchema,
      run: ({ target }) => view(target, (environment) => environments.deleteContents(environment), 'delete'),
    }),
    endpoint({
      method: 'post',
      path: `${path}/build`,
      summary: 'Builds the environment',
      find,
      writes: true,
      needs: 'operate',
      status: 202,
      answer: environmentViewSchema,
      also: { 409: 'The environment is empty, or is being deleted.' },
      run: ({ target }) => view(target, (environment) => environments.build(environment), 'build'),
    }),
    endpoint({
      method: 'post',
      path: `${path}/rebuild`,
      summary: 'Deletes the contents including volumes, then creates and builds them without cache',
      find,
      writes: true,
      needs: 'operate',
      status: 202,
      answer: environmentViewSchema,
      also: {
        409: 'The environment is being deleted, or it is empty and the group has reached its limit of active environments.',
      },
      run: ({ target }) => {
        const change = (environment: Environment) => {
          requireQuota(target.group, environment);
          return environments.rebuild(environment);
        };
        return view(target, change, 'rebuild');
      },
    }),
    endpoint({
      method: 'post',
      path: `${path}/ttl`,
      summary: 'Sets a new time to live, counted from now',
      find,
      writes: true,
      needs: 'operate',
      body: ttlSchema,
      answer: environmentViewSchema,
      also: { 409: 'The environment is empty, or is being deleted.' },
      run: ({ target, body: { ttl } }) => view(target, (environment) => environments.setTtl(environment, ttl)),
    }),
    endpoint({
      method: 'post',
      path: `${path}/approve`,
      summary: 'Approves a commit of a fork, which is then read and built (extension)',
      description: 'For repositories whose forks wait for an approval. It is of this commit only.',
      find,
      writes: true,
      needs: 'operate',
      body: approveSchema,
      status: 202,
      answer: environmentViewSchema,
      also: { 409: 'This commit does not wait for an approval: another one was pushed, or none waits.' },
      run: ({ caller, target, body: { commit } }) => {
        const { email: who } = caller.user;
        return view(target, (environment) => environments.approve(environment, { commit, who }));
      },
    }),
    ...[true, false].map((isAsleep) =>
      endpoint({
        method: 'post',
        path: `${path}/${isAsleep ? 'sleep' : 'wake'}`,
        summary: isAsleep
          ? 'Stops the services; the contents stay (extension)'
          : 'Starts the services, or keeps them awake (extension)',
        find,
        writes: true,
        needs: 'operate',
        status: 202,
        answer: environmentViewSchema,
        also: { 409: 'No build of the environment is deployed.' },
        run: ({ target }) => view(target, (environment) => environments.setAsleep(environment, isAsleep)),
      }),
    ),
    endpoint({
      method: 'post',
      path: `${path}/settings`,
      summary: "Changes the environment's own settings, which replace those of its repository (extension)",
      description: 'Settings that the request does not have are unchanged; null removes one.',
      find,
      writes: true,
      body: changeEnvironmentSettingsSchema,
      answer: environmentViewSchema,
      also: { 409: APPLIED_BY_OTHERS },
      run: ({ target, body }) => view(target, (environment) => changeSettings(environment, body)),
    }),
  ];
}

/** HEAD, a read-only token, and a cookie sent on behalf of another site never start a build. */
function canStartBuild(request: Request, { access, credential }: Caller, ownOrigin: string): boolean {
  if (request.method !== 'GET' || !permits(access, 'operate')) return false;
  return credential.source === 'header' || !isCrossOrigin(request, ownOrigin);
}
