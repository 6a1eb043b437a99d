import type { Command } from 'commander';
import { Client } from '../api/client.ts';
import type { SearchResults } from '../api/types.ts';
import { findTarget } from '../config/target.ts';
import { usageError } from '../errors.ts';
import type { Io } from '../io.ts';

const scripts: Readonly<Record<string, (name: string) => string>> = {
  bash: (name) => `_${name}() {
  local IFS=$'\\n'
  COMPREPLY=($(${name} __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _${name} ${name}
`,
  zsh: (name) => `#compdef ${name}
_${name}() {
  local -a found
  found=(\${(f)"$(${name} __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( \${#found} )); then compadd -a found; else _files; fi
}
compdef _${name} ${name}
`,
  fish: (
    name,
  ) => `complete -c ${name} -a '(${name} __complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
};

/** Returns the completion script of a shell. @throws CliError */
export function completionScript(program: Command, shell: string): string {
  const script = scripts[shell];
  if (!script) throw usageError(`completion of ${shell} is not known. Use ${Object.keys(scripts).join(', ')}`);
  return script(program.name());
}

/** Completion must not delay typing for long. */
const maxMs = 2000;

/** Returns what can stand in place of the last of these words. */
export async function candidates(io: Io, program: Command, words: readonly string[]): Promise<string[]> {
  const typed = words.at(-1) ?? '';
  let command = program;
  let count = 0;
  for (const word of words.slice(0, -1)) {
    const next = command.commands.find((one) => one.name() === word);
    if (next) command = next;
    else if (!word.startsWith('-')) count++;
  }
  const options = [...command.options, ...(command === program ? [] : program.options)].flatMap(
    ({ long }) => long ?? [],
  );
  const names = command.commands.map((one) => one.name()).filter((name) => !name.startsWith('_'));
  const argument = command.registeredArguments[count]?.name();
  const found = typed.startsWith('-') ? options : [...names, ...(await idsFor(io, argument, typed))];
  return found.filter((word) => word.startsWith(typed));
}

/** Returns ids of environments or repositories that contain the text; none while the server cannot be asked. */
async function idsFor(io: Io, argument: string | undefined, text: string): Promise<string[]> {
  const kind = argument === 'env' ? 'environment' : argument === 'repo' ? 'repository' : undefined;
  if (kind === undefined) return [];
  try {
    const client = new Client(findTarget(io, undefined));
    const query = { text: text === '' ? '.' : text, limit: 50 };
    const { results } = await client.get<SearchResults>('/api/search', query, AbortSignal.timeout(maxMs));
    return results.filter((result) => result.kind === kind).map(({ item: { id } }) => id);
  } catch {
    // An error message between the typed words would help nobody.
    return [];
  }
}
