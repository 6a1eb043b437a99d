import { join } from 'node:path';
import ts from 'typescript';

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

const options: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  types: [],
  target: ts.ScriptTarget.ES2024,
  module: ts.ModuleKind.NodeNext,
};

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
  const file = join(import.meta.dirname, 'answers.generated.ts');
  const imports = [...new Set(answers.map(({ from }) => from))];
  const lines = answers.map(({ type, value }, index) => `export const answer${index}: ${type} = ${literal(value)};`);
  const text = [...imports, ...lines].join('\n');
  const host = ts.createCompilerHost(options);
  const original = host.getSourceFile.bind(host);
  host.getSourceFile = (name, ...rest) =>
    name === file ? ts.createSourceFile(name, text, ts.ScriptTarget.ES2024, true) : original(name, ...rest);
  const program = ts.createProgram([file], options, host);
  const source = program.getSourceFile(file);
  return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(
    ({ messageText, start = 0 }) => {
      const line = source?.getLineAndCharacterOfPosition(start).line ?? 0;
      const name = answers[line - imports.length]?.name ?? 'imports';
      return `${name}: ${ts.flattenDiagnosticMessageText(messageText, '\n')} (at ${text.slice(start, start + 40)})`;
    },
  );
}
