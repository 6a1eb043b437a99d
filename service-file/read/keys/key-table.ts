/**
 * How Coppice treats a key: it works, it has no effect (reported as a warning), or the file is refused (reported as an
 * error).
 */
export type Support = 'supported' | 'ignored' | 'refused';

export interface Key {
  support: Support;
  /** Why a key is ignored or refused, for messages and docs/reference/service-file.md; empty for a supported key. */
  why: string;
  /** Values for which an ignored key is refused, and why. */
  unless?: { values: RegExp; why: string };
}

/** The permitted keys of a map: those of the Compose Specification, and Coppice's own. */
export interface KeyTable {
  /** Name of the map for messages: "a service". */
  of: string;
  /** Path of the map in docs/reference/service-file.md: `services.*.build`. */
  path: string;
  keys: ReadonlyMap<string, Key>;
}

interface KeyLists {
  of: string;
  path: string;
  /** Names separated by spaces. */
  supported: string;
  /** Reasons by keys; keys with the same reason are separated by spaces. */
  ignored?: Readonly<Record<string, string>>;
  refused?: Readonly<Record<string, string>>;
  /** Ignored keys that are refused for some values. */
  unless?: Readonly<Record<string, Required<Omit<Key, 'support'>>>>;
}

export function keyTable({ of, path, supported, ignored = {}, refused = {}, unless = {} }: KeyLists): KeyTable {
  const keys = new Map<string, Key>();
  for (const key of words(supported)) keys.set(key, { support: 'supported', why: '' });
  for (const [names, why] of Object.entries(ignored)) {
    for (const key of words(names)) keys.set(key, { support: 'ignored', why });
  }
  for (const [names, why] of Object.entries(refused)) {
    for (const key of words(names)) keys.set(key, { support: 'refused', why });
  }
  for (const [names, key] of Object.entries(unless)) {
    for (const name of words(names)) keys.set(name, { support: 'ignored', ...key });
  }
  return { of, path, keys };
}

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}
