import { RequestError } from '../api/client.ts';
import type { VariableView } from '../api/types.ts';
import { usageError } from '../errors.ts';
import type { Kind, VariablesOwner } from '../installation.ts';
import { note } from '../io.ts';
import { pair } from '../nested.ts';
import { printList } from '../output/print.ts';
import { environmentPath, groupPath, repositoryPath } from '../paths.ts';
import { environmentId, repositoryId, suggesting, suggestingPart } from '../resolve.ts';
import type { Run, Session } from '../session.ts';
import { SHOWN_VARIABLES } from '../shown.ts';

export const list: Run = async (session) => {
  const { installation, io, format, given } = session;
  const environment = given.text('env');
  if (environment !== undefined || given.flag('env')) {
    const id = await environmentId(session, environment);
    const read = () => installation.variables({ kind: 'environment', id });
    const { applies, variables } = await suggesting(session, 'environment', id, read);
    await printList(io, format, variables, SHOWN_VARIABLES);
    if (!applies)
      note(io, 'the code of this environment is not trusted, so it gets only the variables that Coppice sets');
    return;
  }
  const owner = await ownerOf(session);
  const { variables } = await suggesting(session, owner.kind, owner.id, () => installation.variables(owner));
  await printList(io, format, variables, SHOWN_VARIABLES);
};

/** Sets variables given as NAME=VALUE; the value of a NAME alone is read from standard input. */
export const set: Run = async (session, args) => {
  const { client, io, given } = session;
  const names = args.flatMap((arg) => (arg === undefined ? [] : [arg]));
  if (names.filter((arg) => !arg.includes('=')).length > 1) {
    throw usageError('the value of only one variable can be read from standard input');
  }
  const owner = await ownerOf(session);
  for (const arg of names) {
    const [name, value] = arg.includes('=') ? pair(arg) : [arg, await readValue(session, arg)];
    const visibility = given.text('visibility');
    const body = {
      ...{ name, value },
      ...(given.flag('secret') && { secret: true }),
      ...(visibility !== undefined && { visibility }),
    };
    const path = `${owner.path}/variables`;
    await suggesting(session, owner.kind, owner.id, async () => {
      try {
        await client.send<VariableView>('PATCH', path, { body });
      } catch (error) {
        if (!(error instanceof RequestError) || error.status !== 404) throw error;
        await client.send<VariableView>('POST', path, { body });
      }
    });
    note(io, `${name}: set in ${owner.id}. It takes effect with the next build`);
  }
};

/** Reads a value from a prompt, or from standard input. @throws CliError if there is none */
async function readValue({ io, given }: Session, name: string): Promise<string> {
  const question = `Value of ${name}: `;
  const text = !io.isTerminal.in
    ? await io.readInput()
    : given.flag('secret')
      ? await io.askSecret(question)
      : await io.ask(question);
  if (text === '') throw usageError(`no value was given for ${name}. For an empty value, write ${name}=`);
  return text.replace(/\r?\n$/, '');
}

export const unset: Run = async (session, args) => {
  const owner = await ownerOf(session);
  for (const name of args) {
    if (name === undefined) continue;
    const path = `${owner.path}/variables/${encodeURIComponent(name)}`;
    await suggestingPart({ what: `${owner.id} has no variable`, name, read: () => variableNames(session, owner) }, () =>
      suggesting(session, owner.kind, owner.id, () => session.client.send('DELETE', path)),
    );
    note(session.io, `${name}: deleted from ${owner.id}`);
  }
};

/** Returns the names of the variables of a group or repository, or of those that an environment overrides. */
export async function variableNames({ installation }: Session, owner: VariablesOwner): Promise<string[]> {
  const { variables } = await installation.variables(owner);
  const own = owner.kind === 'environment' ? variables.filter(({ from }) => from === 'environment') : variables;
  return own.map(({ name }) => name);
}

interface Owner {
  kind: Kind;
  id: string;
  path: string;
}

/** Returns the owner that the options name, or the checkout's repository. @throws CliError */
export async function ownerOf(session: Session): Promise<Owner> {
  const { given } = session;
  const [group, environment] = [given.text('group'), given.text('env')];
  const isOfEnvironment = environment !== undefined || given.flag('env');
  if ([group !== undefined, given.text('repo') !== undefined, isOfEnvironment].filter(Boolean).length > 1) {
    throw usageError('use only one of --group, --repo and --env');
  }
  if (isOfEnvironment) {
    // An option with an optional value takes the next word.
    if (environment?.includes('=') === true)
      throw usageError('write --env after the variables, or name the environment');
    const id = await environmentId(session, environment);
    return { kind: 'environment', id, path: `${environmentPath(id)}/overrides` };
  }
  if (group !== undefined) return { kind: 'group', id: group, path: groupPath(group) };
  const id = await repositoryId(session);
  return { kind: 'repository', id, path: repositoryPath(id) };
}
