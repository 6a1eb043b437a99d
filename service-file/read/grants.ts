import { posix } from 'node:path';
import type { Problems } from '../problems.ts';
import { quoted } from '../problems.ts';
import type { Build } from '../schema.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';
import { contentOf, type DeclaredContent } from './contents.ts';
import type { FileScope } from './file-scope.ts';
import { grantKeys } from './keys/service-keys.ts';
import type { LocatedMount } from './mount-target.ts';
import { readTarget } from './mount-target.ts';
import { nearest } from './nearest.ts';
import { type Fields, optional, readFields, readList, readName, readText } from './read.ts';

/** World-readable, the Compose Specification's default. */
const defaultMode = 0o444;

interface Grant {
  node: YamlNode;
  source: string;
  target: string | undefined;
  mode: number;
}

/** Reads a service's `configs`, mounted at `/NAME` unless they have a target. */
export function readConfigs(fields: Fields, scope: FileScope): Promise<LocatedMount[]> {
  return readMounts(fields, 'configs', '/', scope);
}

/**
 * Reads a service's `secrets`, mounted at `/run/secrets/NAME` unless they have a target; a target that is not a path
 * replaces NAME.
 */
export function readSecrets(fields: Fields, scope: FileScope): Promise<LocatedMount[]> {
  return readMounts(fields, 'secrets', '/run/secrets/', scope);
}

async function readMounts(
  fields: Fields,
  kind: 'configs' | 'secrets',
  folder: string,
  scope: FileScope,
): Promise<LocatedMount[]> {
  const mounts: LocatedMount[] = [];
  for (const { node, source, target: given, mode } of readGrants(fields, kind, scope.problems)) {
    const declared = lookUp(source, kind, node, scope);
    const target = readTarget(posix.resolve(folder, given ?? source), node, scope.problems);
    if (declared === undefined || target === undefined) continue;
    const content = await contentOf(declared, 'container', node, scope);
    if (content === undefined) continue;
    const file = { path: posix.basename(target), content, mode };
    const bundle = scope.bundles.add([file], isSecret(declared, kind), node);
    const key = bundle?.files[0]?.key;
    if (bundle !== undefined && key !== undefined) {
      mounts.push({ at: node, mount: { type: 'files', bundle: bundle.name, target, key } });
    }
  }
  return mounts;
}

/** Reads `build.secrets`, which `RUN --mount=type=secret,id=…` mounts; the target is the ID. */
export async function readBuildSecrets(fields: Fields, scope: FileScope): Promise<Build['secrets']> {
  const secrets = new Map<string, Build['secrets'][number]>();
  for (const { node, source, target, mode } of readGrants(fields, 'secrets', scope.problems)) {
    const id = target ?? source;
    const declared = lookUp(source, 'secrets', node, scope);
    if (declared === undefined) continue;
    if (!/^[\w.-]{1,128}$/.test(id)) {
      scope.problems.error(node, `${quoted(id)} is not an id for a build secret: use letters, digits, _, - and .`);
    } else if (secrets.has(id)) {
      scope.problems.error(node, `the build secret ${quoted(id)} is listed twice: remove one`);
    } else {
      const content = await contentOf(declared, 'build', node, scope);
      const bundle = content === undefined ? undefined : scope.bundles.add([{ path: id, content, mode }], true, node);
      const key = bundle?.files[0]?.key;
      if (bundle !== undefined && key !== undefined) secrets.set(id, { id, bundle: bundle.name, key });
    }
  }
  return [...secrets.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function readGrants(fields: Fields, key: string, problems: Problems): Grant[] {
  return (optional(fields, key, readList, problems) ?? []).flatMap((node) => readGrant(node, problems) ?? []);
}

function readGrant(node: YamlNode, problems: Problems): Grant | undefined {
  if (node.kind !== 'map') {
    const source = readName(node, problems);
    return source === undefined ? undefined : { node, source, target: undefined, mode: defaultMode };
  }
  const fields = readFields(node, grantKeys, problems);
  if (fields === undefined) return undefined;
  const source = optional(fields, 'source', readName, problems);
  const target = optional(fields, 'target', readName, problems);
  const mode = optional(fields, 'mode', readMode, problems) ?? defaultMode;
  if (source === undefined) return problems.error(node, 'has no source: name a config or secret');
  return { node, source, target, mode };
}

/** Reads an octal mode from the source text, because YAML parses `0440` as four hundred and forty. */
function readMode(node: YamlNode, problems: Problems): number | undefined {
  const isNumber = node.kind === 'scalar' && typeof node.value === 'number';
  const text = isNumber ? node.source : readText(node, problems);
  if (text === undefined) return undefined;
  const digits = (isNumber ? /^0o?([0-7]{3})$/ : /^(?:0o?)?([0-7]{3})$/).exec(text)?.[1];
  if (digits !== undefined) return Number.parseInt(digits, 8);
  return problems.error(node, `${quoted(text)} is not a mode: write it in octal, such as 0440`);
}

function lookUp(
  name: string,
  kind: 'configs' | 'secrets',
  node: YamlNode,
  scope: FileScope,
): DeclaredContent | undefined {
  const declared = scope[kind].get(name);
  if (declared !== undefined) return declared;
  const meant = nearest(name, scope[kind].keys(), scope.problems);
  const hint = meant === undefined ? `add it to the top level's ${kind}` : `did you mean ${quoted(meant)}?`;
  return scope.problems.error(node, `${quoted(name)} is not declared: ${hint}`);
}

/**
 * Returns whether the content can be secret: everything except files of the repository may contain the value of a
 * secret variable.
 */
function isSecret(declared: DeclaredContent, kind: 'configs' | 'secrets'): boolean {
  if (kind === 'secrets' || declared.kind === 'variable') return true;
  return declared.kind === 'content' && declared.node.written !== undefined;
}
