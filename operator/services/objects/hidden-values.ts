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
  return words.map((word) => {
    const variable = variableOf(word, hidden);
    return variable === undefined ? literal(word) : `$(${variable})`;
  });
}

/**
 * The words of a health check, in which the kubelet expands no variable that comes from a Secret. With a hidden word it
 * needs a shell, which replaces itself by the check.
 */
export function checkWords(words: readonly string[], hidden: HiddenValues | undefined): string[] {
  if (words.every((word) => variableOf(word, hidden) === undefined)) return words.map(literal);
  const line = words.map((word) => {
    const variable = variableOf(word, hidden);
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

/** The variable that contains exactly this text, under a name that a shell expands too. */
export function variableOf(text: string, hidden: Pick<HiddenValues, 'variables'> | undefined): string | undefined {
  const found = Object.entries(hidden?.variables ?? {}).find(
    ([name, value]) => value === text && /^[A-Za-z_]\w*$/.test(name),
  );
  return found?.[0];
}
