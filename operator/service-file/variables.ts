import type { Place, Problems } from './problems.ts';
import { quoted } from './problems.ts';
import { isEmpty, kindOf, readText } from './read.ts';
import type { YamlNode } from './yaml-node.ts';

/** What Kubernetes takes as the name of an environment variable in every version. */
const NAME = /^[-._A-Za-z][-._A-Za-z0-9]{0,252}$/;

const FROM_THE_HOST = 'has no value: Compose would take it from the machine it runs on, Coppice has none; write one';

/**
 * `environment` and `build.args`: a map, or a list of `NAME=value`. Sorted by name, so that the order in the file makes
 * no difference to what is deployed. Values may be secret: no message repeats one.
 */
export function readVariables(node: YamlNode, problems: Problems): Record<string, string> | undefined {
  const variables = new Map<string, string>();
  const add = (name: string, value: string, at: Place): void => {
    if (!NAME.test(name) || name === '__proto__') {
      problems.error(at, 'is no name for a variable: use letters, digits, _, - and ., and no digit first');
    } else if (variables.has(name)) {
      problems.error(at, `the variable ${quoted(name)} is set twice: remove one`);
    } else {
      variables.set(name, value);
    }
  };
  if (node.kind === 'map') {
    for (const { key, at, value } of node.entries) {
      const text = isEmpty(value) ? problems.error(at, FROM_THE_HOST) : readText(value, problems);
      if (text !== undefined) add(key, text, at);
    }
  } else if (node.kind === 'list') {
    for (const item of node.items) {
      const text = readText(item, problems);
      if (text === undefined) continue;
      const equals = text.indexOf('=');
      if (equals === -1) problems.error(item, FROM_THE_HOST);
      else add(text.slice(0, equals), text.slice(equals + 1), item);
    }
  } else {
    return problems.error(node, `must be a map or a list of NAME=value, this is ${kindOf(node)}`);
  }
  return Object.fromEntries([...variables].sort(([a], [b]) => (a < b ? -1 : 1)));
}
