import { z } from 'zod';
import type { Pod } from '../../../kubernetes/resource-type.ts';
import type { Service } from '../../../service-file/schema.ts';
import { literal } from '../../shared/literal.ts';

/** Texts of a service that its container takes from a Secret, so that nobody reads them in its pod. */
export const hiddenValuesSchema = z.object({
  /** The Secret's name, which is another one for other values. */
  secret: z.string(),
  /** Texts by variable of the container, which is the Secret's key too. */
  variables: z.record(z.string(), z.string()),
});
export type HiddenValues = z.infer<typeof hiddenValuesSchema>;

type EnvVar = NonNullable<NonNullable<Pod['spec']>['containers'][number]['env']>[number];

/** The container's variables: a service's own, and those that only its words need. */
export function environmentOf({ environment }: Service, hidden: HiddenValues | undefined): EnvVar[] {
  const own = Object.entries(environment).map(([name, value]): EnvVar => {
    const isHidden = hidden && Object.hasOwn(hidden.variables, name);
    return isHidden ? fromSecret(hidden.secret, name) : { name, value: literal(value) };
  });
  const added = Object.keys(hidden?.variables ?? {}).filter((name) => !Object.hasOwn(environment, name));
  return [...own, ...added.map((name) => fromSecret(hidden?.secret ?? '', name))];
}

function fromSecret(secret: string, key: string): EnvVar {
  return { name: key, valueFrom: { secretKeyRef: { name: secret, key } } };
}

/** Words of a command or of its arguments, in which the kubelet expands `$(VARIABLE)`, from Secrets too. */
export function expandedWords(words: readonly string[], hidden: HiddenValues | undefined): string[] {
  const variables = variablesByText(hidden);
  return words.map((word) => {
    const variable = variables.get(word);
    return variable === undefined ? literal(word) : `$(${variable})`;
  });
}

/**
 * The words of a health check, in which the kubelet expands no variable that comes from a Secret. With a hidden word it
 * needs a shell, which replaces itself by the check.
 */
export function checkWords(words: readonly string[], hidden: HiddenValues | undefined): string[] {
  const variables = variablesByText(hidden);
  if (!words.some((word) => variables.has(word))) return words.map(literal);
  const line = words.map((word) => {
    const variable = variables.get(word);
    return variable === undefined ? `'${word.replaceAll("'", "'\\''")}'` : `"$${variable}"`;
  });
  return ['/bin/sh', '-c', literal(`exec ${line.join(' ')}`)];
}

/** What of a service its objects' names can be computed from: each hidden text is represented by its Secret's name. */
export function visibleProcess({ entrypoint, command, environment }: Service, hidden: HiddenValues | undefined) {
  if (!hidden) return [entrypoint, command, environment];
  const words = (all: readonly string[] | undefined) => all && expandedWords(all, hidden);
  const visible = Object.entries(environment).filter(([name]) => !Object.hasOwn(hidden.variables, name));
  return [words(entrypoint), words(command), Object.fromEntries(visible), hidden.secret];
}

/** The variables of hidden texts, by text; only those whose names a shell expands too. */
function variablesByText(hidden: HiddenValues | undefined): ReadonlyMap<string, string> {
  const named = Object.entries(hidden?.variables ?? {}).filter(([name]) => isShellName(name));
  return new Map(named.map(([name, text]) => [text, name]));
}

export function isShellName(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name);
}
