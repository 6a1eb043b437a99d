import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  visit,
} from 'yaml';
import type { SourcePosition, Problems } from '../problems.ts';
import { quoted } from '../problems.ts';
import { MAX_VALUES_OF_FILE, YamlBudget } from './yaml-budget.ts';
import { childPath, type YamlEntry, type YamlNode } from './yaml-node.ts';

const maxBytes = 128 * 1024;
const maxDepth = 32;
const maxSyntaxErrors = 5;

const coreTags = new Set(['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((n) => `tag:yaml.org,2002:${n}`));

/** The file of a text, and the folder to which its relative paths refer. */
export interface YamlOrigin {
  file: string;
  folder: string;
}

/**
 * Parses YAML 1.2 into a tree of plain maps, lists and scalars. Safe for hostile input: size, tokens, depth and aliases
 * are limited; duplicate keys, custom tags and keys that are not text are errors. Returns undefined only if there are
 * errors.
 * @param budget shared by the files of one service file
 */
export function parseYaml(
  text: string,
  origin: YamlOrigin,
  problems: Problems,
  budget = new YamlBudget(),
): YamlNode | undefined {
  const start = startOf(origin.file);
  if (Buffer.byteLength(text) > maxBytes) {
    return problems.error(start, `the file is larger than ${maxBytes / 1024} KiB: shorten it`);
  }
  const exceeded = budget.takeTokens(text);
  if (exceeded !== undefined) return problems.error(start, exceeded);
  const lines = new LineCounter();
  // uniqueKeys compares all keys with each other, which takes minutes for a large map; TreeReader detects duplicates
  // itself.
  const document = withoutStacks(() =>
    parseDocument(text, {
      lineCounter: lines,
      version: '1.2',
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: 'error',
    }),
  );
  for (const { code, message, pos } of document.errors.slice(0, maxSyntaxErrors)) {
    const { line, col } = lines.linePos(pos[0]);
    problems.error({ ...start, line, column: col }, `not valid YAML: ${syntaxMessages.get(code) ?? message}`);
  }
  if (document.errors.length > 0) return undefined;
  if (document.directives.yaml.explicit === true && document.directives.yaml.version !== '1.2') {
    return problems.error(start, 'only YAML 1.2 is read: remove the %YAML line');
  }
  if (document.contents === null) return problems.error(start, 'the file is empty: add "services:" with at least one');
  return new TreeReader(document, lines, origin, problems, budget).read(document.contents, '', 0);
}

/** The yaml package creates an Error for each invalid token, whose stacks would use 1 KiB each. */
function withoutStacks<T>(run: () => T): T {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return run();
  } finally {
    Error.stackTraceLimit = limit;
  }
}

const syntaxMessages = new Map<string, string>([
  ['RESOURCE_EXHAUSTION', 'it is nested too deep: nest it less'],
  ['MULTIPLE_DOCS', 'the file can contain only one document: remove what follows "---"'],
]);

/** How a value is merged over that of another file: load/merge.ts. */
const mergeTags = new Map([
  ['!reset', 'reset'],
  ['!override', 'override'],
] as const) as ReadonlyMap<string, 'reset' | 'override'>;

/** Returns the position of a file's start. */
export function startOf(file: string): SourcePosition {
  return { file, path: '', line: 1, column: 1 };
}

class TreeReader {
  readonly #lines: LineCounter;
  readonly #origin: YamlOrigin;
  readonly #problems: Problems;
  readonly #budget: YamlBudget;
  /** The targets of aliases at their positions. */
  readonly #targets = new Map<Node, Node>();
  /** Aliases that are being filled in, to detect one inside its own target. */
  readonly #open = new Set<Node>();
  #count = 0;
  #isExceeded = false;

  constructor(document: Document, lines: LineCounter, origin: YamlOrigin, problems: Problems, budget: YamlBudget) {
    this.#lines = lines;
    this.#origin = origin;
    this.#problems = problems;
    this.#budget = budget;
    const anchors = new Map<string, Node>();
    visit(document, {
      Node: (_, node) => {
        if (isAlias(node)) {
          const target = anchors.get(node.source);
          if (target !== undefined) this.#targets.set(node, target);
        } else if (node.anchor !== undefined) {
          anchors.set(node.anchor, node);
        }
      },
    });
  }

  read(node: Node, path: string, depth: number): YamlNode | undefined {
    const at = { ...this.#origin, path, ...this.#position(node) };
    if (this.#isExceeded) return undefined;
    this.#count += 1;
    // The error is reported once; later nodes are refused, so the walk ends soon.
    if (this.#count > MAX_VALUES_OF_FILE) {
      return this.#exceed(at, `more than ${MAX_VALUES_OF_FILE} values, aliases filled in: shorten the file`);
    }
    const tooMany = this.#budget.takeValue();
    if (tooMany !== undefined) return this.#exceed(at, tooMany);
    if (depth > maxDepth) return this.#problems.error(at, 'nested too deep: nest it less');
    if (isAlias(node)) return this.#readAlias(node, at, depth);
    const tag = mergeTags.get(node.tag ?? '');
    if (node.tag !== undefined && tag === undefined && !coreTags.has(node.tag)) {
      return this.#problems.error(at, `the tag ${quoted(node.tag)} is not supported: remove it`);
    }
    const here = { ...at, ...(tag !== undefined && { tag }) };
    if (isMap(node)) return { kind: 'map', ...here, entries: this.#readEntries(node.items, path, depth) };
    if (isSeq(node)) return { kind: 'list', ...here, items: this.#readItems(node.items, path, depth) };
    if (isScalar(node) && isPlainValue(node.value)) {
      const tooLong = typeof node.value === 'string' ? this.#budget.takeText(node.value) : undefined;
      if (tooLong !== undefined) return this.#exceed(at, tooLong);
      return { kind: 'scalar', ...here, value: node.value, source: node.source ?? '' };
    }
    return this.#problems.error(at, 'this kind of value is not supported: put it in quotes');
  }

  #exceed(at: SourcePosition, message: string): undefined {
    this.#isExceeded = true;
    return this.#problems.error(at, message);
  }

  #readAlias(alias: Node & { source: string }, at: SourcePosition, depth: number): YamlNode | undefined {
    const target = this.#targets.get(alias);
    if (target === undefined) {
      return this.#problems.error(
        at,
        `the alias ${quoted(`*${alias.source}`)} has no anchor before it: add the anchor`,
      );
    }
    if (this.#open.has(target)) {
      return this.#problems.error(at, `the alias ${quoted(`*${alias.source}`)} is inside its own anchor: remove it`);
    }
    this.#open.add(target);
    const value = this.read(target, at.path, depth + 1);
    this.#open.delete(target);
    return value;
  }

  #readItems(items: readonly unknown[], path: string, depth: number): YamlNode[] {
    return items.flatMap((item, index) => this.read(item as Node, `${path}[${index}]`, depth + 1) ?? []);
  }

  #readEntries(pairs: readonly Pair[], path: string, depth: number): YamlEntry[] {
    const entries = new Map<string, YamlEntry>();
    const merged: YamlEntry[] = [];
    for (const pair of pairs) {
      const keyNode = pair.key as Node;
      const position = this.#position(keyNode);
      const key = this.#keyOf(keyNode, { file: this.#origin.file, path, ...position });
      if (key === undefined) continue;
      const tooLong = this.#isExceeded ? undefined : this.#budget.takeText(key);
      if (tooLong !== undefined) this.#exceed({ file: this.#origin.file, path, ...position }, tooLong);
      if (this.#isExceeded) break;
      const at = { file: this.#origin.file, path: childPath(path, key), ...position };
      const earlier = entries.get(key);
      if (earlier !== undefined) {
        this.#problems.error(at, `the key is repeated, first on line ${earlier.at.line}: remove one`);
        continue;
      }
      if (isMergeKey(keyNode)) {
        merged.push(...this.#readMerged(pair.value as Node, path, depth));
        entries.set(key, { key, at, value: this.#empty(at) });
        continue;
      }
      const value: YamlNode | undefined =
        pair.value === null ? this.#empty(at) : this.read(pair.value as Node, at.path, depth + 1);
      if (value !== undefined) entries.set(key, { key, at, value });
    }
    entries.delete('<<');
    // A map's own key overrides a merged one, and an earlier merged map a later one.
    for (const entry of merged) if (!entries.has(entry.key)) entries.set(entry.key, entry);
    return [...entries.values()];
  }

  /** Returns the entries merged by `<<`, with the path of the map that they are merged into. */
  #readMerged(node: Node, path: string, depth: number): YamlEntry[] {
    return (isSeq(node) ? node.items : [node]).flatMap((item) => {
      const map = this.read(item as Node, path, depth + 1);
      if (map === undefined || map.kind === 'map') return map?.entries ?? [];
      this.#problems.error(map, 'only maps can be merged by <<: name the anchor of a map');
      return [];
    });
  }

  #keyOf(node: Node, at: SourcePosition): string | undefined {
    const target = isAlias(node) ? this.#targets.get(node) : node;
    if (isScalar(target) && typeof target.value === 'string' && target.tag === undefined) {
      if (target.value !== '<<' || isMergeKey(node)) return target.value;
      return this.#problems.error(at, 'the key "<<" is reserved for merging: write it without quotes');
    }
    return this.#problems.error(at, 'a key must be text: put it in quotes');
  }

  #empty(at: SourcePosition): YamlNode {
    return { kind: 'scalar', ...at, folder: this.#origin.folder, value: null, source: '' };
  }

  #position(node: Node): { line: number; column: number } {
    const { line, col } = this.#lines.linePos(node.range?.[0] ?? 0);
    return { line, column: col };
  }
}

function isMergeKey(node: Node): boolean {
  return isScalar(node) && node.type === 'PLAIN' && node.value === '<<';
}

function isPlainValue(value: unknown): value is string | number | boolean | null {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}
