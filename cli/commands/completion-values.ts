import type { Command, Option } from 'commander';
import { readConfig } from '../config/config-file.ts';
import { environmentId } from '../resolve.ts';
import type { Session } from '../session.ts';
import { serviceNames } from './logs.ts';
import { tokenNames } from './token.ts';
import { ownerOf, variableNames } from './vars.ts';

/** The words of a command line before the one that is completed. */
export interface Typed {
  command: Command;
  /** Its arguments so far. */
  args: readonly string[];
  /** The given options, by commander's names. */
  options: Readonly<Record<string, string>>;
  /** The option whose value is completed. */
  valueOf?: Option | undefined;
}

/** Splits words into the command, its arguments and its options. */
export function typedWords(program: Command, words: readonly string[]): Typed {
  let command = program;
  const args: string[] = [];
  const options: Record<string, string> = {};
  let valueOf: Option | undefined;
  for (const word of words) {
    if (valueOf) {
      options[valueOf.attributeName()] = word;
      valueOf = undefined;
      continue;
    }
    const next = args.length === 0 ? command.commands.find((one) => one.name() === word) : undefined;
    if (next) command = next;
    else if (!word.startsWith('-')) args.push(word);
    else {
      const option = [...command.options, ...program.options].find(
        ({ long, short }) => long === word || short === word,
      );
      valueOf = option?.required === true ? option : undefined;
    }
  }
  return { command, args, options, valueOf };
}

/** Returns the words that fit at the cursor: choices, ids or names. @throws CliError */
export async function valuesAt(
  session: Session,
  { command, args, valueOf }: Typed,
  text: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (valueOf?.argChoices) return valueOf.argChoices;
  const path = `${command.parent?.name() ?? ''} ${command.name()}`;
  const { installation } = session;
  const argument = command.registeredArguments[args.length] ?? command.registeredArguments.at(-1);
  const isArgument = argument !== undefined && (args.length < command.registeredArguments.length || argument.variadic);
  switch (valueOf?.attributeName() ?? (isArgument ? `${path} ${argument.name()}` : '')) {
    case 'context':
    case 'coppice context name':
      // In the plugin, they are those of the kubeconfig.
      return session.command === 'coppice' ? Object.keys(readConfig(session.io).contexts) : [];
    case 'group':
      return (await installation.groups()).map(({ id }) => id);
    case 'repo':
      return installation.idsWith('repository', text, signal);
    case 'service':
      return serviceNames(session, await environmentId(session, args[0]), signal);
    case 'vars unset names':
      return variableNames(session, await ownerOf(session));
    case 'token delete name':
      return tokenNames(session.client, signal);
  }
  if (valueOf || !isArgument) return [];
  if (argument.name() === 'env') return installation.idsWith('environment', text, signal);
  return argument.name() === 'repo' ? installation.idsWith('repository', text, signal) : [];
}
