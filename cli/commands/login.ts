import type { UserView } from '../api/types.ts';
import { Client } from '../api/client.ts';
import { readConfig, writeConfig } from '../config/config-file.ts';
import { findTarget, originOf } from '../config/target.ts';
import { CliError, EXIT, usageError } from '../errors.ts';
import { note } from '../io.ts';
import { browserLogin } from '../login/browser.ts';
import { deviceLogin } from '../login/device.ts';
import { retryNote, type Run, type Session } from '../session.ts';

export const login: Run = async (session, [address]) => {
  const { io, given } = session;
  const url = address === undefined ? knownUrl(session) : originOf(address);
  const { protocol, hostname } = new URL(url);
  if (protocol === 'http:' && hostname !== 'localhost' && !/(^127\.|\.localhost$)/.test(hostname)) {
    note(io, `warning: ${url} is not encrypted: others on the network can read the token`);
  }
  // Before the sign-in, whose token would otherwise be valid and stored nowhere.
  const name = given.text('context') ?? new URL(url).host;
  const old = readConfig(io).contexts[name];
  if (old !== undefined && old.url !== url)
    throw usageError(`the context ${name} already names ${old.url}. Pass another --context`);
  const token = await newToken(session, url);
  const { email } = await new Client({ url, token }, retryNote(io)).get<UserView>('/api/user/info');
  const config = readConfig(io);
  writeConfig(io, { current: name, contexts: { ...config.contexts, [name]: { url, token, email } } });
  note(io, `signed in to ${url} as ${email}`);
};

/** Returns the address of the current context. @throws CliError if there is none */
function knownUrl(session: Session): string {
  try {
    return findTarget(session.io, session.given.text('context')).url;
  } catch (error) {
    throw usageError(`name the server: coppice login https://coppice.example.com (${String(error)})`);
  }
}

async function newToken({ io, given }: Session, url: string): Promise<string> {
  if (given.flag('withToken')) {
    const token = (await io.readInput()).trim();
    if (token === '') throw usageError('standard input is empty. Pipe a token into this command');
    return token;
  }
  const email = given.text('email');
  if (given.flag('device')) return deviceLogin(io, url);
  const isByPassword = email !== undefined || given.flag('passwordStdin');
  if (!isByPassword && io.isTerminal.in && hasBrowser(io)) return browserLogin(io, url);
  if (!isByPassword && io.isTerminal.in) return deviceLogin(io, url);
  if (!io.isTerminal.in && !given.flag('passwordStdin')) {
    throw usageError(
      'standard input is not a terminal. Use --device, --with-token or --password-stdin, or set COPPICE_TOKEN',
    );
  }
  const name = email === undefined || email === '' ? undefined : email;
  if (name === undefined) throw usageError('--password-stdin needs --email');
  const password = given.flag('passwordStdin')
    ? (await io.readInput()).replace(/\r?\n$/, '')
    : await io.askSecret('Password: ');
  return (await passwordLogin(url, name, password)).token;
}

/** Returns whether a browser can be opened: there is a desktop, and the terminal is not a remote one. */
function hasBrowser({ env }: Session['io']): boolean {
  if ((env['SSH_CONNECTION'] ?? '') !== '') return false;
  if (process.platform !== 'linux') return true;
  return (env['DISPLAY'] ?? '') !== '' || (env['WAYLAND_DISPLAY'] ?? '') !== '';
}

async function passwordLogin(url: string, email: string, password: string): Promise<{ token: string }> {
  try {
    return await new Client({ url }).send<{ token: string }>('POST', '/api/user/login', { body: { email, password } });
  } catch (error) {
    if (!(error instanceof CliError) || error.exitCode !== EXIT.notSignedIn) throw error;
    throw new CliError('the e-mail address or the password is wrong', EXIT.notSignedIn, { cause: error });
  }
}

/** API tokens start with it, logins do not. */
const apiTokenPrefix = 'cpt_';

export const logout: Run = async (session) => {
  const { io, given } = session;
  const config = readConfig(io);
  const name = given.text('context') ?? config.current;
  const context = name === undefined ? undefined : config.contexts[name];
  if (name === undefined || !context) {
    note(io, 'not signed in');
    return;
  }
  const isApiToken = context.token?.startsWith(apiTokenPrefix) === true;
  try {
    if (context.token !== undefined && !isApiToken)
      await new Client(context, retryNote(io)).send('POST', '/api/user/logout');
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    // The token is deleted on this computer in any case; on the server it may already have expired.
    if (error.exitCode !== EXIT.notSignedIn) note(io, `${error.message}; the token stays valid there`);
  }
  const { [name]: gone, ...contexts } = config.contexts;
  writeConfig(io, { ...(config.current !== name && { current: config.current }), contexts });
  // Others, such as CI jobs, may use the same API token.
  const left = isApiToken ? '. The API token stays valid: `coppice token delete NAME` deletes one' : '';
  note(io, `signed out of ${gone?.url ?? name}${left}`);
};
