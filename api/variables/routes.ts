import { z } from 'zod';
import type { Caller } from '../auth/caller.ts';
import { APPLIED_BY_OTHERS } from '../cluster/ownership.ts';
import type { AccountCaps } from '../limits/account-caps.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { createVariableSchema, updateVariableSchema } from './variable-parameters.ts';
import type { VariableService } from './variable-service.ts';
import type { VariableOwner } from '../shared/variable-owner.ts';
import { variableViewSchema } from './variable-view.ts';

/** Description of the response 409 to texts in the OpenAPI document. */
export const TOO_MUCH_TEXT = 'The account that created the group has reached its limit of variables and service files.';

export interface VariableRoutesOptions<Owner extends VariableOwner> {
  /** Path of the owner of the variables. */
  path: '/api/group/{groupID}' | '/api/repository/{repoID}' | '/api/environment/{environmentID}/overrides';
  /** Finds the owner by the parameter in the path. @throws NotFound */
  find: (caller: Caller, parameters: { groupID: string; repoID: string; environmentID: string }) => Owner;
  variables: VariableService<Owner>;
  caps: Pick<AccountCaps, 'requireVariable'>;
  /** Waits for what the owner needs before a value can be stored. */
  ready?: (owner: Owner) => Promise<void>;
  /** Refuses an owner whose variables would have no effect. */
  requireSettable?: (owner: Owner) => void;
}

/** Returns the routes of variables, which are the same for groups, repositories and overrides of environments. */
export function variableRoutes<Owner extends VariableOwner>({
  path,
  find,
  variables,
  caps,
  ready,
  requireSettable,
}: VariableRoutesOptions<Owner>): Endpoint[] {
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
      also: { 409: `A variable of this name already exists. ${APPLIED_BY_OTHERS} ${TOO_MUCH_TEXT}` },
      run: async ({ target, body }) => {
        requireSettable?.(target);
        await ready?.(target);
        caps.requireVariable(target, body.name, body.value);
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
      also: { 409: `${APPLIED_BY_OTHERS} ${TOO_MUCH_TEXT}` },
      run: ({ target, body }) => {
        requireSettable?.(target);
        if (body.value !== undefined) caps.requireVariable(target, body.name, body.value);
        return variables.update(target, body);
      },
    }),
    endpoint({
      method: 'delete',
      path: `${path}/variables/{varName}`,
      summary: 'Deletes a variable; returns the remaining variables',
      find: (caller, parameters) => ({ owner: find(caller, parameters), name: parameters.varName }),
      writes: true,
      answer: z.array(variableViewSchema),
      also: { 409: APPLIED_BY_OTHERS },
      run: ({ target: { owner, name } }) => variables.remove(owner, name),
    }),
  ];
}
