import { z } from 'zod';
import type { TokenScopes } from '../user-records/token-scopes.ts';
import type { Viewer } from '../auth/caller.ts';
import type { Directory } from '../auth/visibility.ts';
import { endpoint, nothing, type Endpoint } from '../http/endpoint.ts';
import { invalid } from '../shared/errors.ts';
import { apiTokenView, apiTokenViewSchema } from '../user-records/api-token.ts';
import type { ApiTokens } from './api-tokens.ts';
import { apiTokenNameBodySchema, apiTokenNameSchema, newApiTokenSchema } from './user-parameters.ts';

const path = '/api/user/tokens';

export interface TokenRoutesOptions {
  apiTokens: ApiTokens;
  directory: Pick<Directory, 'sees'>;
}

export function tokenRoutes({ apiTokens, directory }: TokenRoutesOptions): Endpoint[] {
  return [
    endpoint({
      method: 'post',
      path,
      summary: 'Creates an API token',
      description: 'The token is returned once, in `token`; only its hash is stored. `scopes` restricts it.',
      find: nothing,
      writes: true,
      isOfAccount: true,
      needsLogin: true,
      body: newApiTokenSchema,
      status: 201,
      answer: apiTokenViewSchema.extend({ token: z.string() }),
      also: { 409: 'A token of this name already exists, or there are too many.' },
      run: async ({ caller, body }) => {
        requireKnownNames(caller, body.scopes, directory);
        const { token, kept } = await apiTokens.create(caller.user, body);
        return { ...apiTokenView(kept), token };
      },
    }),
    endpoint({
      method: 'delete',
      path,
      summary: 'Deletes an API token',
      description: '`name` is in the body or in the query. Returns the remaining tokens.',
      find: nothing,
      writes: true,
      isOfAccount: true,
      body: apiTokenNameBodySchema,
      query: apiTokenNameSchema,
      answer: z.array(apiTokenViewSchema),
      run: async ({ caller, body, query }) => {
        const name = body.name ?? query.name;
        if (name === undefined) {
          const details = [{ path: 'name', message: 'is required, in the body or the query' }];
          throw invalid('the body', details);
        }
        return (await apiTokens.remove(caller.user, name)).map(apiTokenView);
      },
    }),
  ];
}

/**
 * Refuses names of groups and repositories that the caller does not see: a misspelt name would create a useless token.
 * @throws Invalid
 */
function requireKnownNames(viewer: Viewer, scopes: TokenScopes | undefined, directory: Pick<Directory, 'sees'>): void {
  const faults = (['groups', 'repositories'] as const).flatMap((kind) =>
    (scopes?.[kind] ?? []).flatMap((id, index) =>
      directory.sees(viewer, kind, id)
        ? []
        : [{ path: `scopes.${kind}.${index}`, message: 'is not the id of a group or repository that you can see' }],
    ),
  );
  if (faults.length > 0) throw invalid('the body', faults);
}
