import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { localFolder, repositoryRoot } from '../cluster/paths.ts';

/** A value that a client was given, and the published type that it must be of. */
export interface TypedAnswer {
  /** What the value is, for people. */
  name: string;
  /** An import that brings the type. */
  from: string;
  type: string;
  value: unknown;
}

/** Where some packages say that a member may be absent, the host often says null. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]));
}

/** The value as an expression: JSON, but for the times that a client made of texts. */
function literal(value: unknown): string {
  if (value instanceof Date) return `new Date(${JSON.stringify(value)})`;
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return value === undefined ? 'undefined' : JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{ ${members.map(([name, member]) => `${JSON.stringify(name)}: ${literal(member)}`).join(', ')} }`;
}

/**
 * Asks the TypeScript compiler whether each value is of its type: nothing missing that is not optional, nothing of
 * another type, no word that an enumeration lacks, nothing that a closed type does not know. Gives what is wrong.
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
  /** Counted from 0, as the column. */
  line: number;
  column: number;
  message: string;
}

/** What the compiler says of a module, which stands where the packages of this repository are found. */
function compilerErrors(text: string): CompilerError[] {
  mkdirSync(localFolder, { recursive: true });
  const folder = mkdtempSync(join(localFolder, 'types-'));
  try {
    const file = join(folder, 'answers.mts');
    writeFileSync(file, text);
    const options = ['--strict', '--skipLibCheck', '--target', 'es2024', '--module', 'nodenext', '--ignoreConfig'];
    const args = ['--noEmit', '--pretty', 'false', ...options, file];
    execFileSync(join(repositoryRoot, 'node_modules/.bin/tsc'), args, { encoding: 'utf8', stdio: 'pipe' });
    return [];
  } catch (error) {
    const errors = parseErrors((error as { stdout?: string }).stdout ?? '');
    if (errors.length === 0) throw error;
    return errors;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** `path(line,column): error TS1: message`, followed by indented lines that say more. */
function parseErrors(output: string): CompilerError[] {
  const found = output.matchAll(/^.+\((\d+),(\d+)\): error TS\d+: (.+(?:\n .+)*)/gm);
  return [...found].map(([, line, column, message = '']) => ({
    line: Number(line) - 1,
    column: Number(column) - 1,
    message,
  }));
}
