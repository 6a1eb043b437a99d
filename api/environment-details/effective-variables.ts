import { z } from 'zod';
import { findCondition } from '../../crds/conditions.ts';
import type { Environment } from '../../crds/environment.ts';
import { environmentFacts } from '../../crds/environment-facts.ts';
import type { ResourceId } from '../../crds/ids.ts';
import {
  aliasVariables,
  containerVariables,
  isReservedName,
  namedVariables,
} from '../../service-file/own-variables.ts';
import type { OwnVariableSettings } from '../shared/own-variable-settings.ts';
import { type VariableView, variableViewSchema } from '../variables/variable-view.ts';

const sources = ['environment', 'repository', 'group', 'coppice'] as const;

/** A variable that is in effect in an environment. */
const effectiveVariableSchema = variableViewSchema
  .extend({
    from: z.enum(sources).meta({ description: 'Where it is set.' }),
    overrides: z
      .enum(['group', 'repository'])
      .optional()
      .meta({ description: 'What sets it too, without effect; the repository if both do.' }),
  })
  .meta({ id: 'EffectiveVariable' });

/** The variables of an environment. */
export const effectiveVariablesSchema = z
  .object({
    applies: z.boolean().meta({
      description: 'False for code that is not trusted: it gets no variables of group and repository.',
    }),
    variables: z.array(effectiveVariableSchema),
  })
  .meta({ id: 'EffectiveVariables' });
export type EffectiveVariables = z.infer<typeof effectiveVariablesSchema>;

export interface VariableSources {
  group: readonly VariableView[];
  repository: readonly VariableView[];
  /** The overrides of the environment. */
  environment: readonly VariableView[];
  /** Absent if they are not known: then the variables that Coppice sets are missing. */
  own?: OwnVariableSettings;
}

/**
 * Returns the variables that Coppice sets, and of those of the environment, its repository and its group the first of
 * each name, by name.
 */
export function effectiveVariables(
  id: ResourceId,
  environment: Environment,
  { group, repository, environment: overriding, own }: VariableSources,
): EffectiveVariables {
  const layers = [
    { from: 'environment' as const, variables: withoutReserved(overriding) },
    { from: 'repository' as const, variables: withoutReserved(repository) },
    { from: 'group' as const, variables: withoutReserved(group) },
  ];
  const settersOf = (name: string) =>
    layers.filter(({ variables }) => variables.some((one) => one.name === name)).map(({ from }) => from);
  const variables: EffectiveVariables['variables'] = own ? ownVariables(id, environment, own) : [];
  for (const layer of layers) {
    for (const variable of layer.variables) {
      const [first, second] = settersOf(variable.name);
      if (first !== layer.from) continue;
      const overrides = second === 'repository' || second === 'group' ? second : undefined;
      variables.push({ ...variable, from: first, ...(overrides && { overrides }) });
    }
  }
  return { applies: isTrusted(environment), variables: variables.sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

/** Variables that only Coppice can set have no effect. */
function withoutReserved(variables: readonly VariableView[]): VariableView[] {
  return variables.filter(({ name }) => !isReservedName(name));
}

/** Returns the variables that Coppice sets, as in the deployed build or, if there is none yet, in the first one. */
function ownVariables(
  id: ResourceId,
  { spec, status }: Environment,
  { environmentsUrl, registry }: OwnVariableSettings,
): EffectiveVariables['variables'] {
  const { number: build = 1, commit = status?.commit ?? '' } = status?.deployed ?? status?.build ?? {};
  const known = environmentFacts(environmentsUrl, { id, repository: spec.repository, ref: spec.gitRef });
  const facts = { ...known, registry, build, commit };
  const aliases = Object.keys(status?.aliases ?? {}).map((alias) => aliasVariables(facts, alias));
  const all = [containerVariables(facts), namedVariables(facts), ...aliases].flatMap((some) => Object.entries(some));
  return all.map(([name, value]) => ({ name, value, visibility: 'always', from: 'coppice' }));
}

/** Returns whether the operator builds the code with variables: it reports the trust of pull requests only. */
function isTrusted({ status }: Environment): boolean {
  const trusted = findCondition(status?.conditions, 'Trusted');
  return trusted === undefined || trusted.status === 'True';
}
