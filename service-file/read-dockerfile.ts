export interface DockerfileInstruction {
  /** In upper case. */
  name: string;
  /** Words `--name=value` before the arguments. */
  flags: string[];
  /** The arguments, separated by single spaces; continued lines are joined. */
  rest: string;
  /** Number of the first line, counted from 1. */
  line: number;
}

export interface Dockerfile {
  /** The frontend in `# syntax=`. */
  syntax: string | undefined;
  instructions: DockerfileInstruction[];
}

/**
 * Reads a Dockerfile into its instructions as BuildKit's frontend/dockerfile/parser does: comments and the lines of
 * here-documents are not instructions, and `# escape` names the character that continues a line. Errors are left to
 * BuildKit, which reports them.
 */
export function readDockerfile(text: string): Dockerfile {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const directives = readDirectives(lines);
  const continuation = directives.get('escape') === '`' ? /(^|[^`])`[ \t]*$/ : /(^|[^\\])\\[ \t]*$/;
  const instructions: DockerfileInstruction[] = [];
  let joined = '';
  let start = 0;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (line.trim() === '' || line.trimStart().startsWith('#')) continue;
    if (joined === '') start = at;
    if (continuation.test(line)) {
      joined += line.replace(continuation, '$1');
      continue;
    }
    const instruction = parseInstruction(joined + line, start + 1);
    joined = '';
    instructions.push(instruction);
    at = endOfHereDocuments(lines, at, instruction);
  }
  if (joined !== '') instructions.push(parseInstruction(joined, start + 1));
  return { syntax: directives.get('syntax')?.split(/\s/)[0], instructions };
}

/** Returns the names of the build arguments that a Dockerfile declares, each once, sorted. */
export function declaredArguments(instructions: readonly DockerfileInstruction[]): string[] {
  const declared = instructions
    .filter(({ name }) => name === 'ARG')
    .flatMap(({ rest }) => rest.split(' ').map((word) => word.split('=', 1)[0] ?? ''));
  return [...new Set(declared)].sort();
}

/** Reads the `# name=value` comments at the start of the file. */
function readDirectives(lines: readonly string[]): Map<string, string> {
  const directives = new Map<string, string>();
  for (const line of lines) {
    const [, name, value] = /^#\s*([A-Za-z]+)\s*=(.*)$/.exec(line.trim()) ?? [];
    if (name === undefined || value === undefined) break;
    directives.set(name.toLowerCase(), value.trim());
  }
  return directives;
}

function parseInstruction(text: string, line: number): DockerfileInstruction {
  const [name = '', ...words] = text.trim().split(/\s+/);
  const firstArgument = words.findIndex((word) => !word.startsWith('--'));
  const flagCount = firstArgument < 0 ? words.length : firstArgument;
  return { name: name.toUpperCase(), flags: words.slice(0, flagCount), rest: words.slice(flagCount).join(' '), line };
}

/** Returns the index of the last line of the instruction's here-documents. */
function endOfHereDocuments(lines: readonly string[], at: number, { name, rest }: DockerfileInstruction): number {
  const words = rest.split(' ');
  const effective = name === 'ONBUILD' ? words[0]?.toUpperCase() : name;
  if (!['RUN', 'COPY', 'ADD'].includes(effective ?? '')) return at;
  let last = at;
  for (const word of words) {
    const [, chomp, , end] = /^\d*<<(-?)(["']?)([^\s<"']+)\2$/.exec(word) ?? [];
    if (end === undefined) continue;
    const isEnd = (line: string) => (chomp === '-' ? line.replace(/^\t+/, '') : line) === end;
    do last += 1;
    while (last < lines.length && !isEnd(lines[last] ?? ''));
    if (last >= lines.length) break;
  }
  return last;
}
