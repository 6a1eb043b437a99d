import { nested } from '../nested.ts';
import { seconds } from '../output/duration.ts';

type Settings = Record<string, unknown>;

/** Splits the arguments of a command into the name of what it is about, and the changes: `[NAME] SETTING=VALUE…`. */
export function splitSettings(args: readonly (string | undefined)[]): { name: string | undefined; changes: Settings } {
  const given = args.flatMap((arg) => (arg === undefined ? [] : [arg]));
  const [first] = given;
  const isNamed = first !== undefined && !first.includes('=');
  return { name: isNamed ? first : undefined, changes: withDurations(nested(isNamed ? given.slice(1) : given)) };
}

/** Accepts durations such as `1d` where the API takes seconds. @throws CliError */
function withDurations(changes: Settings): Settings {
  const { environmentTTL, sleep } = changes;
  const read = (value: unknown) => (typeof value === 'string' ? seconds(value) : value);
  const { afterSeconds, ...others } = objectOf(sleep);
  return {
    ...changes,
    ...(environmentTTL !== undefined && { environmentTTL: read(environmentTTL) }),
    ...(afterSeconds !== undefined && { sleep: { ...others, afterSeconds: read(afterSeconds) } }),
  };
}

/** Returns the part of a value that has the keys of another one; null for those that it lacks. */
export function partOf(value: unknown, keys: unknown): unknown {
  if (!isObject(value) || !isObject(keys)) return value ?? null;
  const values = new Map(Object.entries(value));
  return Object.fromEntries(Object.entries(keys).map(([key, inner]) => [key, partOf(values.get(key), inner)]));
}

export function objectOf(value: unknown): Settings {
  return isObject(value) ? Object.fromEntries(Object.entries(value)) : {};
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
