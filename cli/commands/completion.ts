import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import { usageError } from '../errors.ts';
import type { Session } from '../session.ts';
import { typedWords, valuesAt, type Typed } from './completion-values.ts';

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

/**
 * Returns the completions of the last of these words.
 * @param sessionOf returns the session of options
 */
export async function candidates(
  sessionOf: (options: Readonly<Record<string, string>>) => Promise<Session>,
  program: Command,
  words: readonly string[],
): Promise<string[]> {
  const text = words.at(-1) ?? '';
  const typed = typedWords(program, words.slice(0, -1));
  const { command, options, valueOf } = typed;
  if (text.startsWith('-') && !valueOf) {
    const all = [...command.options, ...(command === program ? [] : program.options)];
    return all.flatMap(({ long }) => long ?? []).filter((word) => word.startsWith(text));
  }
  const visible = new Set(command.createHelp().visibleCommands(command));
  const names = valueOf ? [] : command.commands.filter((one) => visible.has(one)).map((one) => one.name());
  const found = [...names, ...(await valuesOrNone(() => sessionOf(options), typed, text))];
  return found.filter((word) => word.startsWith(text));
}

/** Returns none if the server cannot be reached in time. */
async function valuesOrNone(sessionOf: () => Promise<Session>, typed: Typed, text: string): Promise<readonly string[]> {
  const late = new AbortController();
  const signal = AbortSignal.any([AbortSignal.timeout(maxMs), late.signal]);
  try {
    const values = sessionOf().then((session) => valuesAt(session, typed, text, signal));
    // Not every request takes the signal.
    return await Promise.race([values, delay(maxMs, [], { signal: late.signal })]);
  } catch {
    // An error message in the middle of typing would not help.
    return [];
  } finally {
    late.abort();
  }
}
