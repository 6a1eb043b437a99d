import type { Environment } from '../../crds/environment.ts';
import { formatProblem, OVERRIDES } from '../../service-file/problems.ts';
import { canReadValues } from '../auth/access.ts';
import type { Caller } from '../auth/caller.ts';
import type { Directory } from '../auth/visibility.ts';
import { APPLIED_BY_OTHERS } from '../cluster/ownership.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import type { AccountCaps } from '../limits/account-caps.ts';
import type { ServiceFileChecker } from '../service-file-check/checker.ts';
import { Invalid } from '../shared/errors.ts';
import { TOO_MUCH_TEXT, variableRoutes } from '../variables/routes.ts';
import type { VariableService } from '../variables/variable-service.ts';
import { requireTrusted, type OverrideService } from './override-service.ts';
import { changeOverridesSchema, overridesView, overridesViewSchema } from './override-view.ts';

export interface OverrideRoutesOptions {
  directory: Directory;
  overrides: OverrideService;
  variables: VariableService<Environment>;
  caps: AccountCaps;
  checker: ServiceFileChecker;
}

const NOT_TRUSTED = 'The code of the environment is not trusted.';

/** Routes (extensions) of what differs from the repository in one environment. */
export function overrideRoutes({ directory, overrides, variables, caps, checker }: OverrideRoutesOptions): Endpoint[] {
  const path = '/api/environment/{environmentID}/overrides';
  const find = (caller: Caller, { environmentID }: { environmentID: string }) =>
    directory.environment(caller, environmentID).environment;
  const view = async (caller: Caller, environment: Environment) => {
    const canRead = canReadValues(caller);
    const [ofVariables, serviceFile] = await Promise.all([
      variables.list(environment, canRead),
      canRead ? overrides.serviceFile(environment) : undefined,
    ]);
    return overridesView(environment, ofVariables, serviceFile);
  };

  return [
    endpoint({
      method: 'get',
      path,
      summary: 'Returns what differs from the repository in this environment (extension)',
      find,
      writes: false,
      answer: overridesViewSchema,
      run: ({ caller, target }) => view(caller, target),
    }),
    endpoint({
      method: 'post',
      path,
      summary: 'Replaces the service file of an environment that is merged over the repository (extension)',
      description: 'It takes effect with the next build.',
      find,
      writes: true,
      body: changeOverridesSchema,
      answer: overridesViewSchema,
      also: { 409: `${NOT_TRUSTED} ${APPLIED_BY_OTHERS} ${TOO_MUCH_TEXT}` },
      run: async ({ caller, target, body: { serviceFile } }) => {
        const text = serviceFile.trim() === '' ? '' : serviceFile;
        let warnings: string[] = [];
        if (text !== '') {
          requireTrusted(target);
          warnings = await checkedKeys(checker, caller.user.accountId, target, text);
          caps.requireServiceFile(target, text);
        }
        const changed = await view(caller, await overrides.setServiceFile(target, text));
        return { ...changed, ...(warnings.length > 0 && { warnings }) };
      },
    }),
    endpoint({
      method: 'delete',
      path,
      summary: 'Deletes all overrides of an environment (extension)',
      find,
      writes: true,
      answer: overridesViewSchema,
      also: { 409: APPLIED_BY_OTHERS },
      run: async ({ caller, target }) => view(caller, await overrides.removeAll(target)),
    }),
    ...variableRoutes({ path, find, variables, caps, requireSettable: requireTrusted }),
  ];
}

/**
 * Checks syntax and keys, and returns what is probably wrong: the API does not read the repository, over whose file it
 * is merged.
 * @throws Invalid
 */
async function checkedKeys(
  checker: ServiceFileChecker,
  user: string,
  { status }: Environment,
  content: string,
): Promise<string[]> {
  const patch = { services: (status?.services ?? []).map(({ name }) => name) };
  const given = { mode: 'panel' as const, serviceFile: content, files: {}, variables: [], patch };
  const { errors, warnings } = await checker.check(user, given);
  if (errors.length === 0) return warnings.map((warning) => formatProblem({ ...warning, file: OVERRIDES }));
  const message = (error: (typeof errors)[number]) => formatProblem({ ...error, file: OVERRIDES });
  const details = errors.map((error) => ({ path: 'serviceFile', message: message(error) }));
  throw new Invalid('the service file is not valid', { details });
}
