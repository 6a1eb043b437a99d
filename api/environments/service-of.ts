import type { Environment } from '../../crds/environment.ts';
import { NotFound } from '../shared/errors.ts';

/** Returns the name of a service given by its ID or by its name. @throws NotFound */
export function serviceOf({ status }: Environment, environmentId: string, given: string): string {
  const names = (status?.services ?? []).map(({ name }) => name);
  const service = names.find((name) => name === given) ?? names.find((name) => `${environmentId}.${name}` === given);
  if (service === undefined)
    throw new NotFound('the environment has no such service. GET /api/environment/{environmentID} lists its services');
  return service;
}
