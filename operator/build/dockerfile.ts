export interface Instruction {
  /** In upper case. */
  name: string;
  /** `--name=value` words before the arguments. */
  flags: string[];
  /** The arguments; continued lines are joined. */
  rest: string;
}

export interface Dockerfile {
  /** The frontend that `# syntax=` names. */
  syntax: string | undefined;
  instructions: Instruction[];
}

/**
 * Reads a Dockerfile into its instructions, as far as it takes to see which images it names (BuildKit's
 * frontend/dockerfile/parser). What is wrong in it, BuildKit tells.
 */
export function readDockerfile(text: string): Dockerfile {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const directives = readDirectives(lines);
  const escape = directives.get('escape') === '`' ? '`' : '\\';
  const instructions: Instruction[] = [];
  let joined = '';
  for (let at = 0; at < lines.length; at += 1) {
    const line = (lines[at] ?? '').trim();
    if (line === '' || line.startsWith('#')) continue;
    if (line.endsWith(escape)) {
      joined += `${line.slice(0, -1)} `;
      continue;
    }
    const instruction = parseInstruction(joined + line);
    joined = '';
    instructions.push(instruction);
    at = endOfHereDocuments(lines, at, instruction);
  }
  if (joined !== '') instructions.push(parseInstruction(joined));
  return { syntax: directives.get('syntax')?.split(/\s/)[0], instructions };
}

/** The `# name=value` comments before anything else. */
function readDirectives(lines: readonly string[]): Map<string, string> {
  const directives = new Map<string, string>();
  for (const line of lines) {
    const [, name, value] = /^#\s*([A-Za-z]+)\s*=(.*)$/.exec(line.trim()) ?? [];
    if (name === undefined || value === undefined) break;
    directives.set(name.toLowerCase(), value.trim());
  }
  return directives;
}

function parseInstruction(line: string): Instruction {
  const [name = '', ...words] = line.trim().split(/\s+/);
  const firstArgument = words.findIndex((word) => !word.startsWith('--'));
  const flagCount = firstArgument < 0 ? words.length : firstArgument;
  return { name: name.toUpperCase(), flags: words.slice(0, flagCount), rest: words.slice(flagCount).join(' ') };
}

/** The index of the last line that belongs to the instruction's here-documents. */
function endOfHereDocuments(lines: readonly string[], at: number, { name, rest }: Instruction): number {
  if (!['RUN', 'COPY', 'ADD'].includes(name) || !rest.includes('<<')) return at;
  let last = at;
  for (const word of rest.split(' ')) {
    const [, chomp, , end] = /^\d*<<(-?)(["']?)([A-Za-z_][\w.-]*)\2$/.exec(word) ?? [];
    if (end === undefined) continue;
    const isEnd = (line: string) => (chomp === '-' ? line.replace(/^\t+/, '') : line) === end;
    do last += 1;
    while (last < lines.length && !isEnd(lines[last] ?? ''));
    if (last >= lines.length) break;
  }
  return last;
}
