import type { SourcePosition } from '../problems.ts';
import { quoted } from '../problems.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';
import type { ReadContext } from './context.ts';
import { isEmpty, kindOf, readText } from './read.ts';

/** What Kubernetes takes as the name of an environment variable in every version. */
const NAME = /^[-._A-Za-z][-._A-Za-z0-9]{0,252}$/;

/** Who sees a value: variables that are for builds only stay there. */
export type Reader = 'container' | 'build';

/**
 * `environment` and `build.args`: a map, or a list of `NAME=value`. A name without a value takes that of a variable;
 * without one it is left out, as Compose does. Values may be secret: no message repeats one.
 */
export function readVariables(node: YamlNode, reader: Reader, context: ReadContext): Map<string, string> | undefined {
  const { problems } = context;
  const variables = new Map<string, string>();
  const add = (name: string, value: string | undefined, at: SourcePosition): void => {
    if (!isVariableName(name)) {
      problems.error(at, 'is not a name for a variable: use letters, digits, _, - and ., and no digit first');
    } else if (variables.has(name)) {
      problems.error(at, `the variable ${quoted(name)} is set twice: remove one`);
    } else {
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

/** Kubernetes would take `__proto__`, JavaScript's objects would not. */
export function isVariableName(name: string): boolean {
  return NAME.test(name) && name !== '__proto__';
}

/** The value that Coppice's variables have for a name, reported when there is none, or none for this reader. */
export function variableValue(
  name: string,
  reader: Reader,
  at: SourcePosition,
  { variables, problems }: ReadContext,
): string | undefined {
  const variable = variables.get(name);
  if (variable === undefined) {
    problems.warn(at, `the variable ${quoted(name)} is not set: it is left out`);
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

/** Sorted by name, so that the order in the file makes no difference to what is deployed. */
export function toRecord(variables: ReadonlyMap<string, string>): Record<string, string> {
  return Object.fromEntries([...variables].sort(([a], [b]) => (a < b ? -1 : 1)));
}
