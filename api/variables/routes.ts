import { z } from 'zod';
import type { Caller } from '../auth/caller.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { createVariableSchema, updateVariableSchema } from './variable-parameters.ts';
import type { VariableOwner, VariableService } from './variable-service.ts';
import { variableViewSchema } from './variable-view.ts';

export interface VariableRoutes<Owner extends VariableOwner> {
  /** Of the owner. */
  path: '/api/group/{groupID}' | '/api/repository/{repoID}';
  /** By the parameter that is in the path. @throws NotFound */
  find: (caller: Caller, parameters: { groupID: string; repoID: string }) => Owner;
  variables: VariableService<Owner>;
  /** What must be there before a value can be kept. */
  ready?: (owner: Owner) => Promise<void>;
}

/** Contract section 4: the three endpoints of variables, the same for groups and repositories. */
export function variableRoutes<Owner extends VariableOwner>({
  path,
  find,
  variables,
  ready,
}: VariableRoutes<Owner>): Endpoint[] {
  return [
    endpoint({
      method: 'post',
      path: `${path}/variables`,
      summary: 'Creates a custom variable',
      find,
      writes: true,
      body: createVariableSchema,
      status: 201,
      answer: variableViewSchema,
      also: { 409: 'There is a variable of this name.' },
      run: async ({ target, body }) => {
        await ready?.(target);
        return variables.create(target, body);
      },
    }),
    endpoint({
      method: 'patch',
      path: `${path}/variables`,
      summary: 'Changes the value or the visibility of a variable',
      find,
      writes: true,
      body: updateVariableSchema,
      answer: variableViewSchema,
      run: ({ target, body }) => variables.update(target, body),
    }),
    endpoint({
      method: 'delete',
      path: `${path}/variables/{varName}`,
      summary: 'Deletes a variable; answers those that are left',
      find: (caller, parameters) => ({ owner: find(caller, parameters), name: parameters.varName }),
      writes: true,
      answer: z.array(variableViewSchema),
      run: ({ target: { owner, name } }) => variables.remove(owner, name),
    }),
  ];
}
