import { z } from 'zod';
import type { Group } from '../../crds/group.ts';
import type { Repository } from '../../crds/repository.ts';
import { canReadValues, reachesGroup } from '../auth/access.ts';
import type { Directory } from '../auth/visibility.ts';
import type { OwnVariableSettings } from '../shared/own-variable-settings.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { isReservedName } from '../../service-file/own-variables.ts';
import { serviceFileSchema } from '../../service-file/schema.ts';
import type { Variable } from '../../service-file/variables.ts';
import type { VariableService } from '../variables/variable-service.ts';
import type { VariableView } from '../variables/variable-view.ts';
import { checkSchema } from './check-parameters.ts';
import type { ServiceFileChecker } from './checker.ts';

const problemSchema = z
  .object({ file: z.string(), path: z.string(), line: z.int(), column: z.int(), message: z.string() })
  .meta({ id: 'Problem', description: 'A problem and its position; `line` and `column` count from 1.' });

const checkResultSchema = z
  .object({
    services: serviceFileSchema.shape.services,
    warnings: z.array(problemSchema),
    errors: z.array(problemSchema),
  })
  .meta({ id: 'ServiceFileCheck', description: '`services` is empty when there are errors.' });

export interface CheckRoutesOptions {
  directory: Directory;
  checker: ServiceFileChecker;
  groupVariables: VariableService<Group>;
  repositoryVariables: VariableService<Repository>;
  ownVariables: OwnVariableSettings;
}

/** Replaces values that the caller must not see: the response shows the service file with its variables filled in. */
const withheldValue = 'withheld';

function filledIn({ name, value, visibility, secret, withheld, error }: VariableView): [string, Variable][] {
  if (error !== undefined || isReservedName(name)) return [];
  const marked = { visibility, ...(secret === true && { secret }) };
  return [[name, { value: (secret ?? withheld) ? withheldValue : value, ...marked }]];
}

/**
 * Returns the route (an extension) that checks whether Coppice would run a service file. It creates and stores nothing.
 */
export function checkRoutes(options: CheckRoutesOptions): Endpoint[] {
  const { directory, checker, groupVariables, repositoryVariables, ownVariables } = options;
  return [
    endpoint({
      method: 'post',
      path: '/api/repository/{repoID}/check',
      summary: 'Checks a service file (extension)',
      find: (caller, { repoID }) => directory.repository(caller, repoID),
      writes: false,
      body: checkSchema,
      answer: checkResultSchema,
      run: async ({ caller, target: { group, repository }, body }) => {
        const canRead = canReadValues(caller);
        const canReadGroup = canRead && reachesGroup(caller.reach, group.metadata.name);
        // The repository's variables come later, and override those of the group.
        const all = await Promise.all([
          groupVariables.list(group, canReadGroup),
          repositoryVariables.list(repository, canRead),
        ]);
        const variables = all.flat().flatMap((variable) => filledIn(variable));
        const checked = {
          id: { group: group.metadata.name, name: repository.metadata.name },
          environmentsUrl: ownVariables.environmentsUrl.href,
          registry: ownVariables.registry,
        };
        return checker.check(caller.user.accountId, { ...body, variables, repository: checked });
      },
    }),
  ];
}
