import { Command, CommanderError, Option } from 'commander';
import { COMMANDS, NOUNS, type Leaf } from './commands-table.ts';
import { CliError, EXIT } from './errors.ts';
import type { Io } from './io.ts';
import { coloured, hasColours } from './output/colours.ts';
import { FORMATS } from './output/formats.ts';
import { visible } from './output/safe-text.ts';

declare const COPPICE_VERSION: string | undefined;

/** The version that the build sets. */
const version = typeof COPPICE_VERSION === 'undefined' ? 'development' : COPPICE_VERSION;

/** Returns the command line's commands. @param name by which it was called */
export function createProgram(io: Io, name: string): Command {
  const program = new Command(name)
    .description('Creates, watches and opens environments of a Coppice server.')
    .version(version, '-V, --version', 'print the version')
    .addOption(new Option('-o, --output <format>', 'how data is printed').choices(FORMATS))
    .option('--context <name>', 'server to use; `context` lists them')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void io.out.write(text),
      writeErr: (text) => void io.err.write(text),
      outputError: (text, show) => show(text.replace(/^error: /, `${name}: `)),
    })
    .showHelpAfterError(false)
    .showSuggestionAfterError(true)
    .exitOverride();
  for (const { name: noun, summary, verbs } of NOUNS) {
    const command = program.command(noun).description(summary).helpCommand(false);
    for (const leaf of verbs) addLeaf(io, command, leaf);
  }
  for (const leaf of COMMANDS) addLeaf(io, program, leaf);
  program
    .command('completion <shell>')
    .description('print the completion script of bash, zsh or fish')
    .action(async (shell: string) => {
      const { completionScript } = await import('./commands/completion.ts');
      io.out.write(completionScript(program, shell));
    });
  program
    .command('__complete [words...]', { hidden: true })
    .allowUnknownOption()
    .action(async (words: string[]) => {
      const { candidates } = await import('./commands/completion.ts');
      io.out.write((await candidates(io, program, words)).map((word) => `${visible(word)}\n`).join(''));
    });
  return program;
}

function addLeaf(io: Io, parent: Command, { usage, summary, options = [], load }: Leaf): void {
  const command = parent.command(usage).description(summary);
  for (const [flags, description] of options) command.option(flags, description);
  command.action(async () => {
    const [run, { Given, Session }] = await Promise.all([load(), import('./session.ts')]);
    const args: unknown[] = command.processedArgs.flat();
    const texts = args.map((arg) => (typeof arg === 'string' ? arg : undefined));
    await run(new Session(io, new Given(command.optsWithGlobals())), texts);
  });
}

/** Runs a command line, and returns its exit code. @param args without the program's name */
export async function runProgram(io: Io, name: string, args: readonly string[]): Promise<number> {
  const program = createProgram(io, name);
  try {
    await program.parseAsync([...args], { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError) {
      const isHelp = error.code === 'commander.helpDisplayed' || error.code === 'commander.version';
      return isHelp || error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    }
    const message = error instanceof CliError ? error.message : unexpected(error);
    io.err.write(`${coloured(`${name}:`, 'red', hasColours(io, 'err'))} ${visible(message)}\n`);
    return error instanceof CliError ? error.exitCode : EXIT.failed;
  }
}

/** A fault of this program: the stack says where. */
function unexpected(error: unknown): string {
  return `this is a fault of the command line itself: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}
