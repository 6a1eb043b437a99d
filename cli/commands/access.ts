import type { EnvironmentView, SharedView } from '../api/types.ts';
import { usageError } from '../errors.ts';
import { note, write } from '../io.ts';
import { timeText } from '../output/duration.ts';
import { printValue } from '../output/print.ts';
import { visible } from '../output/safe-text.ts';
import { environmentPath } from '../paths.ts';
import { environmentId, suggesting } from '../resolve.ts';
import type { Run, Session } from '../session.ts';
import { readEnvironment } from './env.ts';

const modes = ['public', 'password', 'members', 'default'];

/** Shows who can open an environment, or changes it. */
export const access: Run = async (session, [first, second]) => {
  // Only ids contain a dot. Any other single argument is the mode, for the checkout's environment.
  const isId = second !== undefined || first?.includes('.') === true;
  const [name, mode] = isId ? [first, second] : [undefined, first];
  const id = await environmentId(session, name);
  if (mode === undefined) return print(session, await readEnvironment(session, id));
  if (!modes.includes(mode)) throw usageError(`${mode} is not known. Use one of ${modes.join(', ')}`);
  const password = mode === 'password' ? await readPassword(session) : undefined;
  const body = {
    access: mode === 'default' ? null : mode,
    ...(password !== undefined && { accessPassword: password }),
  };
  const path = `${environmentPath(id)}/access`;
  const send = () => session.client.send<EnvironmentView>('POST', path, { body });
  await suggesting(session, 'environment', id, send);
  // The operator enforces the change, which takes a moment.
  note(session.io, mode === 'default' ? `${id}: as its repository says` : `${id}: ${mode}`);
};

async function print({ io, format }: Session, view: EnvironmentView): Promise<void> {
  const { access: enforced, ownAccess } = view;
  if (format === 'json' || format === 'yaml') {
    await printValue(io, format, { access: enforced, ...(ownAccess !== undefined && { ownAccess }) });
    return;
  }
  await write(io.out, `${visible(enforced)}\n`);
}

/** Never an argument, which other users of the computer could read. @throws CliError if there is none */
async function readPassword({ io }: Session): Promise<string> {
  const text = io.isTerminal.in ? await io.askSecret('Password for visitors: ') : await io.readInput();
  const password = text.replace(/\r?\n$/, '');
  if (password === '') throw usageError('no password was given on standard input');
  return password;
}

/** Ends one link, or all of an environment. */
export const unshare: Run = async (session, [name]) => {
  const { client, io, given } = session;
  const [link, isAll] = [given.text('link'), given.flag('all')];
  if ((link !== undefined) === isAll) throw usageError('say which links end: --link LINK, or --all');
  const id = await environmentId(session, name);
  const body = isAll ? { all: true } : { link };
  const send = () => client.send<EnvironmentView>('POST', `${environmentPath(id)}/share/end`, { body });
  await suggesting(session, 'environment', id, send);
  note(io, isAll ? `${id}: all links have ended` : `${id}: the link has ended`);
};

/** Prints a link, or a token for programs. */
export const share: Run = async (session, [name]) => {
  const { client, io, given, format } = session;
  const id = await environmentId(session, name);
  const [seconds, path] = [given.seconds('for'), given.text('path')];
  const body = { ...(seconds !== undefined && { seconds }), ...(path !== undefined && { path }) };
  const send = () => client.send<SharedView>('POST', `${environmentPath(id)}/share`, { body });
  const shared = await suggesting(session, 'environment', id, send);
  if (format === 'json' || format === 'yaml') return printValue(io, format, shared);
  await write(io.out, `${visible(given.flag('header') ? `${shared.header}: ${shared.token}` : shared.url)}\n`);
  note(io, `it ends at ${timeText(shared.expiresAt)}`);
};
