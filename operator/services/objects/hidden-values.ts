import { z } from 'zod';
import type { Pod } from '../../../kubernetes/resource-type.ts';
import type { Service } from '../../../service-file/schema.ts';
import { literal } from '../../shared/literal.ts';

/** Texts of a service that its container takes from a Secret, so that nobody reads them in its pod. */
export const hiddenValuesSchema = z.object({
  /** The Secret's name, which differs for different values. */
  secret: z.string(),
  /** Texts by variable of the container, which is the Secret's key too. */
  variables: z.record(z.string(), z.string()),
});
export type HiddenValues = z.infer<typeof hiddenValuesSchema>;

type EnvVar = NonNullable<NonNullable<Pod['spec']>['containers'][number]['env']>[number];

/**
 * Returns the container's variables: those that Coppice sets, the service's, and those that stand for hidden words of its
 * commands.
 */
export function environmentOf(
  { environment }: Service,
  hidden: HiddenValues | undefined,
  own: Readonly<Record<string, string>> = {},
): EnvVar[] {
  const set = Object.entries(own).filter(([name]) => !Object.hasOwn(environment, name));
  const given = Object.entries(environment).map(([name, value]): EnvVar => {
    const isHidden = hidden && Object.hasOwn(hidden.variables, name);
    return isHidden ? fromSecret(hidden.secret, name) : fromText(name, value);
  });
  const added = Object.keys(hidden?.variables ?? {}).filter((name) => !Object.hasOwn(environment, name));
  return [
    ...set.map(([name, value]) => fromText(name, value)),
    ...given,
    ...added.map((name) => fromSecret(hidden?.secret ?? '', name)),
  ];
}

/** The API server drops an empty value: with one, each restart of the operator would apply the object again. */
function fromText(name: string, value: string): EnvVar {
  return { name, ...(value !== '' && { value: literal(value) }) };
}

function fromSecret(secret: string, key: string): EnvVar {
  return { name: key, valueFrom: { secretKeyRef: { name: secret, key } } };
}

/** Returns the words of a command or its arguments: hidden ones as `$(VARIABLE)`, which the kubelet expands. */
export function expandedWords(words: readonly string[], hidden: HiddenValues | undefined): string[] {
  const variables = variablesByText(hidden);
  return words.map((word) => {
    const variable = variables.get(word);
    return variable === undefined ? literal(word) : `$(${variable})`;
  });
}

/**
 * Returns the words of a health check. The kubelet expands no variables of Secrets in them, so a check with a hidden word
 * is run by a shell, which expands the variable and replaces itself by the check.
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

/** Returns the parts of a service that its objects' names are hashed from, with a Secret's name for each hidden text. */
export function visibleProcess({ entrypoint, command, environment }: Service, hidden: HiddenValues | undefined) {
  if (!hidden) return [entrypoint, command, environment];
  const words = (all: readonly string[] | undefined) => all && expandedWords(all, hidden);
  const visible = Object.entries(environment).filter(([name]) => !Object.hasOwn(hidden.variables, name));
  return [words(entrypoint), words(command), Object.fromEntries(visible), hidden.secret];
}

/** Returns the variables of hidden texts by text, without those whose names a shell does not expand. */
function variablesByText(hidden: HiddenValues | undefined): ReadonlyMap<string, string> {
  const named = Object.entries(hidden?.variables ?? {}).filter(([name]) => isShellName(name));
  return new Map(named.map(([name, text]) => [text, name]));
}

export function isShellName(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name);
}
