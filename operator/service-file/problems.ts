/** A spot in a file: what stands there by its keys (`services.web.ports[0]`), and where, both counted from 1. */
export interface Place {
  path: string;
  line: number;
  column: number;
}

export interface Problem extends Place {
  message: string;
}

/** Past this many the list helps nobody, and it has to fit into a condition or a log. */
const MAX_PROBLEMS = 50;

/** What is wrong with one service file, gathered while it is read, so that a user sees all of it at once. */
export class Problems {
  readonly #errors: Problem[] = [];
  readonly #warnings: Problem[] = [];

  /** Always undefined, so that a reader can `return problems.error(…)`. */
  error(at: Place, message: string): undefined {
    add(this.#errors, at, message);
  }

  warn(at: Place, message: string): void {
    add(this.#warnings, at, message);
  }

  get hasErrors(): boolean {
    return this.#errors.length > 0;
  }

  /** In the order of the file. */
  get errors(): Problem[] {
    return this.#errors.toSorted(byPlace);
  }

  get warnings(): Problem[] {
    return this.#warnings.toSorted(byPlace);
  }
}

/** `compose.yaml:4:7: services.web.ports[0]: …`, the form that editors and terminals make a link of. */
export function formatProblem(fileName: string, { path, line, column, message }: Problem): string {
  return `${fileName}:${line}:${column}: ${path === '' ? '' : `${path}: `}${message}`;
}

/** Text of the file for use in a message: quoted, control characters escaped, not too long. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

function add(problems: Problem[], { path, line, column }: Place, message: string): void {
  if (problems.length < MAX_PROBLEMS) problems.push({ path, line, column, message });
}

function byPlace(a: Problem, b: Problem): number {
  return a.line - b.line || a.column - b.column;
}
