import type { Command } from 'commander';
import { usageError } from '../errors.ts';
import type { Session } from '../session.ts';

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

/** kubectl runs the program of this name for the words after `kubectl coppice`. */
export const PLUGIN_COMPLETION = `#!/bin/sh
exec kubectl-coppice __complete -- "$@"
`;

/** Completion must not delay typing for long. */
const maxMs = 2000;

/** Returns the completions of the last of these words. */
export async function candidates(session: Session, program: Command, words: readonly string[]): Promise<string[]> {
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
  const visible = new Set(command.createHelp().visibleCommands(command));
  const names = command.commands.filter((one) => visible.has(one)).map((one) => one.name());
  const argument = command.registeredArguments[count]?.name();
  const found = typed.startsWith('-') ? options : [...names, ...(await idsFor(session, argument, typed))];
  return found.filter((word) => word.startsWith(typed));
}

/** Returns ids of environments or repositories that contain the text; none if the server cannot be reached. */
async function idsFor(session: Session, argument: string | undefined, text: string): Promise<string[]> {
  const kind = argument === 'env' ? 'environment' : argument === 'repo' ? 'repository' : undefined;
  if (kind === undefined) return [];
  try {
    return await session.installation.idsWith(kind, text, AbortSignal.timeout(maxMs));
  } catch {
    // An error message in the middle of typing would not help.
    return [];
  }
}
