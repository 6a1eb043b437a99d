import { createHash } from 'node:crypto';
import type { SourcePosition, Problems } from '../problems.ts';
import { quoted } from '../problems.ts';
import type { YamlEntry, YamlNode } from '../yaml/yaml-node.ts';

/** A container's name is `build-<service>` and has at most 63 characters. */
export const MAX_NAME_LENGTH = 57;

/** Returns whether the text is a label of a host name (RFC 1035), as Kubernetes requires for a Service. */
export function isHostLabel(text: string, maxLength = MAX_NAME_LENGTH): boolean {
  return text.length <= maxLength && /^[a-z]([a-z0-9-]*[a-z0-9])?$/.test(text);
}

/** Returns the label most similar to a name: `My_App` → `my-app`; undefined if no character remains. */
function nearestLabel(name: string): string | undefined {
  const label = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^[^a-z]+/g, '')
    .slice(0, MAX_NAME_LENGTH)
    .replace(/-+$/, '');
  return label === '' ? undefined : label;
}

/**
 * Returns each service's host name, by its name in the file. Compose permits names that are not valid host names
 * (`my_app`): such a service gets the most similar one, with a warning. It is an error if something in the file uses
 * the invalid name.
 */
export function readServiceNames(
  services: readonly YamlEntry[],
  problems: Problems,
): ReadonlyMap<string, string> | undefined {
  const names = new Map<string, string>();
  const invalid = services.map(({ key }) => key).filter((key) => !isHostLabel(key));
  const mentions = invalid.length === 0 ? new Map<string, YamlNode>() : mentionsOf(new Set(invalid), services);
  const taken = new Map<string, string>();
  for (const { key, at } of services) {
    const name = isHostLabel(key) ? key : renamed(key, at, mentions, problems);
    if (name === undefined) continue;
    const other = taken.get(name);
    if (other !== undefined) {
      problems.error(at, `${quoted(key)} and ${quoted(other)} have the same host name ${quoted(name)}: rename one`);
      continue;
    }
    taken.set(name, key);
    names.set(key, name);
  }
  return names.size === services.length ? names : undefined;
}

function renamed(
  name: string,
  at: SourcePosition,
  mentions: ReadonlyMap<string, YamlNode>,
  problems: Problems,
): string | undefined {
  const better = nearestLabel(name);
  const rule = `${quoted(name)} cannot be a host name: use lower-case letters, digits and -, a letter first, at most ${MAX_NAME_LENGTH}`;
  if (better === undefined || !/^[A-Za-z][\w.-]*$/.test(name) || name.length > MAX_NAME_LENGTH) {
    return problems.error(at, better === undefined ? rule : `${rule}, such as ${quoted(better)}`);
  }
  // Host names are not case-sensitive.
  const mention = name.toLowerCase() === better ? undefined : mentions.get(name);
  if (mention !== undefined) {
    return problems.error(
      mention,
      `reaches the service ${quoted(name)} by a name that is not a valid host name: call the service ${quoted(better)}, and write that here`,
    );
  }
  problems.warn(at, `${quoted(name)} cannot be a host name: other services reach it as ${quoted(better)}`);
  return better;
}

/** Keys whose values can contain addresses of services. */
const mayMention = new Set(['environment', 'command', 'entrypoint', 'healthcheck', 'x-coppice']);

/** Returns the first value of the file that contains each name as a word. All are found in one pass: texts can be long. */
function mentionsOf(names: ReadonlySet<string>, services: readonly YamlEntry[]): ReadonlyMap<string, YamlNode> {
  const mentions = new Map<string, YamlNode>();
  const visit = (node: YamlNode): void => {
    if (node.kind === 'list') node.items.forEach(visit);
    else if (node.kind === 'map') for (const { value } of node.entries) visit(value);
    else if (typeof node.value === 'string') {
      for (const name of wordsIn(node.value)) if (names.has(name) && !mentions.has(name)) mentions.set(name, node);
    }
  };
  for (const { value } of services) {
    for (const entry of value.kind === 'map' ? value.entries : []) if (mayMention.has(entry.key)) visit(entry.value);
  }
  return mentions;
}

/** Returns the words that can be names of services: of `db_1.local`, that is `db_1.local` and `db_1`. */
function* wordsIn(text: string): Generator<string> {
  for (const [word] of text.matchAll(/[\w.-]+/g)) {
    for (let end = 1; end <= Math.min(word.length, MAX_NAME_LENGTH); end++) {
      if (end === word.length || word[end] === '.') yield word.slice(0, end);
    }
  }
}

/**
 * Returns names for volumes and networks, which only Coppice sees, by the name in the file: the most similar label,
 * with a hash if two are equal or no character remains.
 */
export function labelsFor(names: readonly string[]): ReadonlyMap<string, string> {
  const nearest = names.map((name) => [name, nearestLabel(name) ?? 'unnamed'] as const);
  const counts = new Map<string, number>();
  for (const [, label] of nearest) counts.set(label, (counts.get(label) ?? 0) + 1);
  return new Map(
    nearest.map(([name, label]) => {
      const isAlone = counts.get(label) === 1 && label !== 'unnamed' && name.length <= MAX_NAME_LENGTH;
      const plain = name === label || isAlone;
      return [name, plain ? label : `${label.slice(0, MAX_NAME_LENGTH - 9)}-${hash(name)}`] as const;
    }),
  );
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}
