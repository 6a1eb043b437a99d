import { usageError } from './errors.ts';

/** Returns `NAME=VALUE` arguments as a map. @throws CliError */
export function pairs(args: readonly string[]): Record<string, string> {
  return Object.fromEntries(args.map((arg) => pair(arg)));
}

/** @throws CliError */
export function pair(arg: string): [name: string, value: string] {
  const at = arg.indexOf('=');
  if (at < 1) throw usageError(`${arg} is not of the form NAME=VALUE`);
  return [arg.slice(0, at), arg.slice(at + 1)];
}

type Tree = Record<string, unknown>;
interface Leaf {
  value: unknown;
}
type Node = Map<string, Leaf | Node>;

/** Returns `a.b=1` arguments as the object `{a: {b: 1}}`; a JSON value is parsed. @throws CliError */
export function nested(args: readonly string[]): Tree {
  const root: Node = new Map();
  for (const arg of args) {
    const [path, text] = pair(arg);
    const names = path.split('.');
    let at = root;
    for (const [index, name] of names.slice(0, -1).entries()) {
      const inner = at.get(name) ?? (new Map() satisfies Node);
      if (!(inner instanceof Map)) throw bothSet(path, names.slice(0, index + 1).join('.'));
      at.set(name, inner);
      at = inner;
    }
    const last = names.at(-1) ?? '';
    if (at.get(last) instanceof Map) throw bothSet(`${path}.*`, path);
    at.set(last, { value: valueOf(text) });
  }
  return treeOf(root);
}

function bothSet(one: string, other: string) {
  return usageError(`${one} and ${other} are both set. Remove one`);
}

function treeOf(node: Node): Tree {
  // Sets own properties, so that `__proto__` is an ordinary key.
  return Object.fromEntries(
    [...node].map(([name, inner]) => [name, inner instanceof Map ? treeOf(inner) : inner.value]),
  );
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
