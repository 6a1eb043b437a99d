import type { Variables } from './variables.ts';

/** A spot in a file: what stands there by its keys (`services.web.ports[0]`), and where, both counted from 1. */
export interface SourcePosition {
  /** The file's path in the repository, or SETTINGS. */
  file: string;
  path: string;
  line: number;
  column: number;
  /** What the file says where variables were filled in: a message repeats this, never their values. */
  written?: string;
}

/** The `file` of what the repository's settings say, in place of a path. */
export const SETTINGS = 'settings';

export interface Problem {
  file: string;
  path: string;
  line: number;
  column: number;
  message: string;
}

/** Past this many the list helps nobody, and it has to fit into a condition or a log. */
const MAX_PROBLEMS = 50;
const MAX_QUOTED = 60;
/** A shorter value is part of too many words; one that fills a text alone is hidden by `written`. */
const MIN_MASKED = 4;

/** What is wrong with one service file, gathered while it is read, so that a user sees all of it at once. */
export class Problems {
  readonly #errors: Problem[] = [];
  readonly #warnings: Problem[] = [];
  readonly #masks: readonly (readonly [value: string, name: string])[];

  /** `variables`: what no message may repeat. */
  constructor(variables: Variables = new Map()) {
    this.#masks = [...variables]
      .filter(([, { value }]) => value.length >= MIN_MASKED)
      .flatMap(([name, { value }]) => [value, JSON.stringify(value).slice(1, -1)].map((text) => [text, name] as const))
      .sort(([a], [b]) => b.length - a.length);
  }

  /** Always undefined, so that a reader can `return problems.error(…)`. */
  error(at: SourcePosition, message: string): undefined {
    this.#add(this.#errors, at, message);
  }

  warn(at: SourcePosition, message: string): void {
    this.#add(this.#warnings, at, message);
  }

  /** Takes over the errors of `others` at places where none is reported yet: whoever reads a value knows it better. */
  addElsewhere(others: Problems): void {
    const reported = new Set(this.#errors.map(positionKey));
    this.#errors.push(...others.#errors.filter((problem) => !reported.has(positionKey(problem))));
    this.#errors.splice(MAX_PROBLEMS);
  }

  /** At most MAX_PROBLEMS. */
  get errorCount(): number {
    return this.#errors.length;
  }

  get hasErrors(): boolean {
    return this.#errors.length > 0;
  }

  /** In the order of each file. */
  get errors(): Problem[] {
    return this.#errors.toSorted(byPosition);
  }

  get warnings(): Problem[] {
    return this.#warnings.toSorted(byPosition);
  }

  #add(problems: Problem[], { file, path, line, column, written }: SourcePosition, message: string): void {
    if (problems.length >= MAX_PROBLEMS) return;
    let text = written === undefined ? message : message.replaceAll(QUOTED, (found) => asWritten(found, written));
    for (const [value, name] of this.#masks) text = text.replaceAll(value, () => `\${${name}}`);
    const problem = { file, path, line, column, message: text.replaceAll(QUOTED, shorten) };
    // An env file may be read more than once: for the service file, and for a service.
    if (!problems.some((reported) => formatProblem(reported) === formatProblem(problem))) problems.push(problem);
  }
}

/** `compose.yaml:4:7: services.web.ports[0]: …`, the form that editors and terminals make a link of. */
export function formatProblem({ file, path, line, column, message }: Problem): string {
  if (file === '') return message;
  return `${file}:${line}:${column}: ${path === '' ? '' : `${path}: `}${message}`;
}

/** Text of the file for use in a message: quoted, control characters escaped. Problems shortens what is too long. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}

/** What quoted() makes. */
const QUOTED = /"(?:[^"\\]|\\.)*"/g;

/** A part of what the file says stays; what variables brought is not shown. */
function asWritten(found: string, written: string): string {
  return JSON.stringify(written).includes(found.slice(1, -1)) ? found : quoted(written);
}

function shorten(found: string): string {
  if (found.length <= MAX_QUOTED + 2) return found;
  return `${found.slice(0, MAX_QUOTED + 1).replace(/\\[^\\]{0,5}$/, '')}…"`;
}

function positionKey({ file, line, column }: Problem): string {
  return `${line}:${column}:${file}`;
}

function byPosition(a: Problem, b: Problem): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line || a.column - b.column;
}
