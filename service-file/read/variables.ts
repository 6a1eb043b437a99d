import { isReservedName, RESERVED_NAME } from '../own-variables.ts';
import type { SourcePosition } from '../problems.ts';
import { quoted } from '../problems.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';
import type { ReadContext } from './context.ts';
import { isEmpty, kindOf, readText } from './read.ts';

/** Names of environment variables that every version of Kubernetes accepts. */
const namePattern = /^[-._A-Za-z][-._A-Za-z0-9]{0,252}$/;

/** Who reads a value: only builds can read buildtime variables. */
export type Reader = 'container' | 'build';

/**
 * Reads `environment` and `build.args`: a map, or a list of `NAME=value`. A name without a value takes that of
 * Coppice's variable; if there is none, it is omitted, as in Compose. No message contains a value, which may be secret.
 */
export function readVariables(node: YamlNode, reader: Reader, context: ReadContext): Map<string, string> | undefined {
  const { problems } = context;
  const variables = new Map<string, string>();
  const add = (name: string, value: string | undefined, at: SourcePosition): void => {
    if (!isVariableName(name)) {
      problems.error(at, 'is not a name for a variable: use letters, digits, _, - and ., and no digit first');
    } else if (variables.has(name)) {
      problems.error(at, `the variable ${quoted(name)} is set twice: remove one`);
    } else if (mayBeSet(name, value, at, context)) {
      const found = value ?? variableValue(name, reader, at, context);
      if (found !== undefined) variables.set(name, found);
    }
  };
  if (node.kind === 'map') {
    for (const { key, at, value } of node.entries) {
      if (isEmpty(value)) add(key, undefined, at);
      else {
        const text = readText(value, problems);
        if (text !== undefined) add(key, text, at);
      }
    }
  } else if (node.kind === 'list') {
    for (const item of node.items) {
      const text = readText(item, problems);
      if (text === undefined) continue;
      const equals = text.indexOf('=');
      if (equals === -1) add(text, undefined, item);
      else add(text.slice(0, equals), text.slice(equals + 1), item);
    }
  } else {
    return problems.error(node, `must be a map or a list of NAME=value, this is ${kindOf(node)}`);
  }
  return variables;
}

/** Returns whether the name is valid. Kubernetes accepts `__proto__`, but JavaScript objects do not. */
export function isVariableName(name: string): boolean {
  return namePattern.test(name) && name !== '__proto__';
}

/**
 * Returns whether a service or build can have the variable; reports if not. Nobody overrides the variables that Coppice
 * sets, but a file can repeat them: `COPPICE_COMMIT: ${COPPICE_COMMIT}`.
 */
export function mayBeSet(
  name: string,
  value: string | undefined,
  at: SourcePosition,
  { own, problems }: ReadContext,
): boolean {
  if (!isReservedName(name)) return true;
  const set = own.get(name)?.value;
  if (set !== undefined && (value === undefined || value === set)) return true;
  const fix = set === undefined ? 'rename it' : 'leave out the value, or rename it';
  problems.error(at, `the variable ${quoted(name)} cannot be set, because ${RESERVED_NAME}: ${fix}`);
  return false;
}

/** Returns the value of Coppice's variable; reports if it is not set, or not available to this reader. */
export function variableValue(
  name: string,
  reader: Reader,
  at: SourcePosition,
  { variables, problems }: ReadContext,
): string | undefined {
  const variable = variables.get(name);
  if (variable === undefined) {
    problems.warn(at, `the variable ${quoted(name)} is not set, so it is left out: set it, or remove it here`);
    return undefined;
  }
  if (reader === 'container' && variable.visibility === 'buildtime') {
    return problems.error(
      at,
      `the variable ${quoted(name)} is for builds only: use it below build, or make it visible always`,
    );
  }
  return variable.value;
}

/** Returns the variables sorted by name, so that their order in the file does not change what is deployed. */
export function toRecord(variables: ReadonlyMap<string, string>): Record<string, string> {
  return Object.fromEntries([...variables].sort(([a], [b]) => (a < b ? -1 : 1)));
}
