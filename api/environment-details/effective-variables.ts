import { z } from 'zod';
import { findCondition } from '../../crds/conditions.ts';
import type { Environment } from '../../crds/environment.ts';
import { type VariableView, variableViewSchema } from '../variables/variable-view.ts';

const sources = ['repository', 'group'] as const;

/** A variable that is in effect in an environment. */
const effectiveVariableSchema = variableViewSchema
  .extend({
    from: z.enum(sources).meta({ description: 'Where it is set.' }),
    overrides: z.literal('group').optional().meta({ description: 'The group sets it too, without effect.' }),
  })
  .meta({ id: 'EffectiveVariable' });

/** The variables of an environment. */
export const effectiveVariablesSchema = z
  .object({
    applies: z.boolean().meta({ description: 'False for code that is not trusted: it gets no variables.' }),
    variables: z.array(effectiveVariableSchema),
  })
  .meta({ id: 'EffectiveVariables' });
export type EffectiveVariables = z.infer<typeof effectiveVariablesSchema>;

/** Returns the variables of a repository and those of its group that it does not override, by name. */
export function effectiveVariables(
  environment: Environment,
  ofGroup: readonly VariableView[],
  ofRepository: readonly VariableView[],
): EffectiveVariables {
  const [outer, inner] = [new Set(ofGroup.map(({ name }) => name)), new Set(ofRepository.map(({ name }) => name))];
  const variables = [
    ...ofRepository.map((variable) => ({
      ...variable,
      from: 'repository' as const,
      ...(outer.has(variable.name) && { overrides: 'group' as const }),
    })),
    ...ofGroup.filter(({ name }) => !inner.has(name)).map((variable) => ({ ...variable, from: 'group' as const })),
  ];
  return { applies: isTrusted(environment), variables: variables.sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

/** Returns whether the operator builds the code with variables: it reports the trust of pull requests only. */
function isTrusted({ status }: Environment): boolean {
  const trusted = findCondition(status?.conditions, 'Trusted');
  return trusted === undefined || trusted.status === 'True';
}
