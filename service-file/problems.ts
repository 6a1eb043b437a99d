import { VariableMask } from './variable-mask.ts';
import type { Variables } from './variables.ts';

/** A position in a file: its path (`services.web.ports[0]`), and its line and column, which count from 1. */
export interface SourcePosition {
  /** Path of the file in the repository, SETTINGS or OVERRIDES. */
  file: string;
  path: string;
  line: number;
  column: number;
  /** The text before variables were filled in, which messages repeat instead of the variables' values. */
  written?: string;
}

/** The `file` of positions in the repository's settings. */
export const SETTINGS = 'settings';
/** The `file` of positions in the overrides of an environment. */
export const OVERRIDES = 'overrides';

export interface Problem {
  file: string;
  path: string;
  line: number;
  column: number;
  message: string;
}

/** More problems would not fit into a condition or a log, and nobody would read them. */
const maxProblems = 50;
const maxQuoted = 60;
/** Maximum length of a quoted text that is searched for in the text of the file; a longer one is replaced by that. */
const maxSearched = 1000;

/** Collects the problems of a service file while it is read, so that users see all of them at once. */
export class Problems {
  readonly #errors: Problem[] = [];
  readonly #warnings: Problem[] = [];
  readonly #mask: VariableMask;

  /** Creates an empty list. `variables`: values that no message may contain. */
  constructor(variables: Variables = new Map()) {
    this.#mask = new VariableMask(variables);
  }

  /** Adds an error. Always returns undefined, so that a reader can `return problems.error(…)`. */
  error(at: SourcePosition, message: string): undefined {
    this.#add(this.#errors, at, message);
  }

  warn(at: SourcePosition, message: string): void {
    this.#add(this.#warnings, at, message);
  }

  /** Adds the errors of `others` at positions without an error: a specific error is better than a general one. */
  addElsewhere(others: Problems): void {
    const reported = new Set(this.#errors.map(positionKey));
    this.#errors.push(...others.#errors.filter((problem) => !reported.has(positionKey(problem))));
    this.#errors.splice(maxProblems);
  }

  /** Number of errors, at most maxProblems. */
  get errorCount(): number {
    return this.#errors.length;
  }

  get hasErrors(): boolean {
    return this.#errors.length > 0;
  }

  /** Errors in the order of each file. */
  get errors(): Problem[] {
    return this.#errors.toSorted(byPosition);
  }

  get warnings(): Problem[] {
    return this.#warnings.toSorted(byPosition);
  }

  #add(problems: Problem[], { file, path, line, column, written }: SourcePosition, message: string): void {
    if (problems.length >= maxProblems) return;
    const text =
      written === undefined ? message : message.replaceAll(quotedPattern, (found) => asWritten(found, written));
    const problem = { file, path, line, column, message: this.#mask.apply(text).replaceAll(quotedPattern, shorten) };
    // An env file can be read several times: for the service file, and for services.
    if (!problems.some((reported) => formatProblem(reported) === formatProblem(problem))) problems.push(problem);
  }
}

/** Formats a problem as `compose.yaml:4:7: services.web.ports[0]: …`, which editors and terminals turn into links. */
export function formatProblem({ file, path, line, column, message }: Problem): string {
  if (file === '') return message;
  return `${file}:${line}:${column}: ${path === '' ? '' : `${path}: `}${message}`;
}

/** Quotes text of the file for a message, with control characters escaped. Problems truncates long ones. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}

/** Matches the result of quoted(). */
const quotedPattern = /"(?:[^"\\]|\\.)*"/g;

/** Returns quoted text as it is in the file, without the values of variables. */
function asWritten(found: string, written: string): string {
  const isWritten = found.length <= maxSearched && JSON.stringify(written).includes(found.slice(1, -1));
  return isWritten ? found : quoted(written);
}

function shorten(found: string): string {
  if (found.length <= maxQuoted + 2) return found;
  return `${found.slice(0, maxQuoted + 1).replace(/\\[^\\]{0,5}$/, '')}…"`;
}

function positionKey({ file, line, column }: Problem): string {
  return `${line}:${column}:${file}`;
}

function byPosition(a: Problem, b: Problem): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line || a.column - b.column;
}

/** Returns the message for a list that has more entries than are read. `what`: in the plural. */
export function tooMany(max: number, what: string): string {
  return `more than ${max} ${what}, which is the limit: remove some`;
}
