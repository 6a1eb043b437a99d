import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LOCAL_FOLDER, REPOSITORY_ROOT } from '../support/paths.ts';

/** A value that a client received, and the published type that it must have. */
export interface TypedAnswer {
  /** Description of the value. */
  name: string;
  /** An import statement for the type. */
  from: string;
  type: string;
  value: unknown;
}

/** Removes nulls, which hosts often return where a package's type says that a field is absent. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]));
}

/** Returns the value as an expression: JSON, except for the Dates that a client created. */
function literal(value: unknown): string {
  if (value instanceof Date) return `new Date(${JSON.stringify(value)})`;
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return value === undefined ? 'undefined' : JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{ ${members.map(([name, member]) => `${JSON.stringify(name)}: ${literal(member)}`).join(', ')} }`;
}

/**
 * Checks with the TypeScript compiler that each value has its type: no missing required fields, no fields of another
 * type, no unknown values of enumerations, no unknown fields of closed types. Returns the errors.
 */
export function typeErrors(answers: readonly TypedAnswer[]): string[] {
  const imports = [...new Set(answers.map(({ from }) => from))];
  const lines = answers.map(({ type, value }, index) => `export const answer${index}: ${type} = ${literal(value)};`);
  const text = [...imports, ...lines];
  return compilerErrors(text.join('\n')).map(({ line, column, message }) => {
    const name = answers[line - imports.length]?.name ?? 'imports';
    return `${name}: ${message} (at ${(text[line] ?? '').slice(column, column + 40)})`;
  });
}

interface CompilerError {
  /** Line and column count from 0. */
  line: number;
  column: number;
  message: string;
}

/** Returns the compiler's errors for a module, which is placed where the packages of this repository are found. */
function compilerErrors(text: string): CompilerError[] {
  mkdirSync(LOCAL_FOLDER, { recursive: true });
  const folder = mkdtempSync(join(LOCAL_FOLDER, 'types-'));
  try {
    const file = join(folder, 'answers.mts');
    writeFileSync(file, text);
    const options = ['--strict', '--skipLibCheck', '--target', 'es2024', '--module', 'nodenext', '--ignoreConfig'];
    const args = ['--noEmit', '--pretty', 'false', ...options, file];
    execFileSync(join(REPOSITORY_ROOT, 'node_modules/.bin/tsc'), args, { encoding: 'utf8', stdio: 'pipe' });
    return [];
  } catch (error) {
    const errors = parseErrors((error as { stdout?: string }).stdout ?? '');
    if (errors.length === 0) throw error;
    return errors;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Parses `path(line,column): error TS1: message`, followed by indented lines with details. */
function parseErrors(output: string): CompilerError[] {
  const found = output.matchAll(/^.+\((\d+),(\d+)\): error TS\d+: (.+(?:\n .+)*)/gm);
  return [...found].map(([, line, column, message = '']) => ({
    line: Number(line) - 1,
    column: Number(column) - 1,
    message,
  }));
}
