import { Command, CommanderError, Option } from 'commander';
import { COMMANDS, NOUNS, type Leaf } from './commands-table.ts';
import { CliError, EXIT, EXIT_HELP, RemoteExit, usageError } from './errors.ts';
import type { Io } from './io.ts';
import { coloured, hasColours } from './output/colours.ts';
import { FORMATS } from './output/formats.ts';
import { visible } from './output/safe-text.ts';
import type { Session } from './session.ts';

declare const COPPICE_VERSION: string | undefined;

/** The version, which the build of the command line sets. */
const version = typeof COPPICE_VERSION === 'undefined' ? 'development' : COPPICE_VERSION;

/** The name that the program was called by. As a plugin of kubectl it works on custom resources. */
export type ProgramName = 'coppice' | 'kubectl coppice';

const PLUGIN = 'kubectl coppice';

/** Returns the command line's commands. */
export function createProgram(io: Io, name: ProgramName): Command {
  const program = new Command(name)
    .description(
      name === PLUGIN
        ? 'Creates, watches and opens environments by their custom resources.'
        : 'Creates, watches and opens environments of a Coppice server.',
    )
    .version(version, '-V, --version', 'print the version')
    .addOption(new Option('-o, --output <format>', 'how data is printed').choices(FORMATS))
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', EXIT_HELP)
    .configureOutput({
      writeOut: (text) => void io.out.write(text),
      writeErr: (text) => void io.err.write(text),
      outputError: (text, show) => show(text.replace(/^error: /, `${name}: `)),
    })
    .showHelpAfterError(false)
    .showSuggestionAfterError(true)
    .exitOverride();
  if (name === PLUGIN) {
    program
      .option('-n, --namespace <name>', 'namespace of a group, such as group-acme')
      .option('--context <name>', 'context of the kubeconfig')
      .option('--kubeconfig <file>', 'kubeconfig');
  } else program.option('--context <name>', 'server to use; `context` lists them');
  for (const { name: noun, summary, verbs } of NOUNS) {
    const [first] = verbs;
    if (name === PLUGIN && verbs.every(({ needsServer }) => needsServer !== undefined)) {
      addMissing(program, noun, first?.needsServer ?? '');
      continue;
    }
    const command = program.command(noun).description(summary).helpCommand(false);
    for (const leaf of verbs) addLeaf(io, command, name, leaf);
  }
  for (const leaf of COMMANDS) addLeaf(io, program, name, leaf);
  addCompletion(io, program, name);
  return program;
}

function addCompletion(io: Io, program: Command, name: ProgramName): void {
  if (name === PLUGIN) {
    program
      .command('completion')
      .description('print the script kubectl_complete-coppice, with which kubectl completes in every shell')
      .action(async () => {
        const { PLUGIN_COMPLETION } = await import('./commands/completion.ts');
        io.out.write(PLUGIN_COMPLETION);
      });
  } else {
    program
      .command('completion <shell>')
      .description('print the completion script of bash, zsh or fish')
      .action(async (shell: string) => {
        const { completionScript } = await import('./commands/completion.ts');
        io.out.write(completionScript(program, shell));
      });
  }
  program
    .command('__complete [words...]', { hidden: true })
    .allowUnknownOption()
    .action(async (words: string[]) => {
      const { candidates } = await import('./commands/completion.ts');
      const found = await candidates((options) => sessionOf(io, name, options), program, words);
      io.out.write(found.map((word) => `${visible(word)}\n`).join(''));
    });
}

async function sessionOf(io: Io, name: ProgramName, options: Readonly<Record<string, unknown>>): Promise<Session> {
  const { Given, Session: SessionOf } = await import('./session.ts');
  const given = new Given(options);
  if (name !== PLUGIN) return new SessionOf(io, given);
  const { KubectlInstallation } = await import('./kubectl/installation.ts');
  return new SessionOf(io, given, { installation: new KubectlInstallation(io, given) });
}

function addLeaf(io: Io, parent: Command, name: ProgramName, leaf: Leaf): void {
  const { usage, needsServer, load } = leaf;
  if (name === PLUGIN && needsServer !== undefined) {
    addMissing(parent, usage.replace(/ .*/, ''), needsServer);
    return;
  }
  const { summary, options = [] } = (name === PLUGIN ? leaf.inPlugin : undefined) ?? leaf;
  const command = parent.command(usage).description(summary);
  for (const [flags, description, choices] of options) {
    const option = new Option(flags, description);
    command.addOption(choices ? option.choices(choices) : option);
  }
  command.action(async () => {
    const [run, session] = await Promise.all([load(), sessionOf(io, name, command.optsWithGlobals())]);
    // A mistake in it must not be found after the request that is waited for.
    session.given.seconds('timeout');
    const args: unknown[] = command.processedArgs.flat();
    const texts = args.map((arg) => (typeof arg === 'string' ? arg : undefined));
    await run(session, texts);
  });
}

/** Adds a command that only names the program that has it. */
function addMissing(parent: Command, name: string, why: string): void {
  const path = parent.parent ? `${parent.name()} ${name}` : name;
  parent
    .command(`${name} [args...]`, { hidden: true })
    .allowUnknownOption()
    .helpOption(false)
    .action(() => {
      throw usageError(`there is no ${PLUGIN} ${path}: ${why}. Use \`coppice ${path}\`, which signs in to the server`);
    });
}

/** Runs a command line, and returns its exit code. @param args without the program's name */
export async function runProgram(io: Io, name: ProgramName, args: readonly string[]): Promise<number> {
  const program = createProgram(io, name);
  try {
    await program.parseAsync([...args], { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError) {
      const isHelp = error.code === 'commander.helpDisplayed' || error.code === 'commander.version';
      return isHelp || error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    }
    if (error instanceof RemoteExit) return error.exitCode;
    const message = error instanceof CliError ? error.message : unexpected(error);
    io.err.write(`${coloured(`${name}:`, 'red', hasColours(io, 'err'))} ${visible(message)}\n`);
    return error instanceof CliError ? error.exitCode : EXIT.failed;
  }
}

/** Describes a bug of this program, with its stack trace. */
function unexpected(error: unknown): string {
  return `this is a fault of the command line itself: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}
