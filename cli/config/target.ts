import { EXIT, CliError, usageError } from '../errors.ts';
import type { Io } from '../io.ts';
import { nearest } from '../suggest.ts';
import { readConfig, type Config } from './config-file.ts';

/** The server that a command uses. */
export interface Target {
  /** Origin, without a slash at the end. */
  url: string;
  token?: string | undefined;
  /** The context it comes from; absent if variables name the server. */
  context?: string | undefined;
}

/** Returns the origin of a server's address. @throws CliError */
export function originOf(text: string): string {
  const withScheme = /^https?:\/\//i.test(text) ? text : `https://${text}`;
  const url = URL.canParse(withScheme) ? new URL(withScheme) : undefined;
  if (!url || (text.includes('://') && withScheme !== text)) {
    throw usageError(`${text} is not the address of a server. Write it as https://coppice.example.com`);
  }
  if (url.username !== '' || url.password !== '') {
    throw usageError('the address of a server must not contain credentials. Run `coppice login` instead');
  }
  return url.origin;
}

/** Returns the server from the options, variables or current context. @throws CliError if there is none */
export function findTarget(io: Io, contextName: string | undefined): Target {
  const name = contextName ?? io.env['COPPICE_CONTEXT'];
  const ownToken = io.env['COPPICE_TOKEN'];
  const token = ownToken === '' ? undefined : ownToken?.trim();
  const url = io.env['COPPICE_URL'] ?? '';
  if (name === undefined && url !== '') {
    const origin = originOf(url);
    // A token is sent only to the server that issued it.
    return { url: origin, token: token ?? tokenFor(readConfig(io), origin) };
  }
  const config = readConfig(io);
  const chosen = name ?? config.current;
  if (chosen === undefined) {
    throw new CliError(
      'no server is known. Run `coppice login https://SERVER`, or set COPPICE_URL and COPPICE_TOKEN',
      EXIT.notSignedIn,
    );
  }
  const context = config.contexts[chosen];
  if (!context) {
    const near = nearest(chosen, Object.keys(config.contexts));
    throw usageError(
      `there is no context ${chosen}. ${near === undefined ? '`coppice context` lists them' : `Did you mean ${near}?`}`,
    );
  }
  // A token is sent only to the server that issued it.
  const isOfAnother = url !== '' && originOf(url) !== context.url;
  return { url: context.url, token: (isOfAnother ? undefined : token) ?? context.token, context: chosen };
}

function tokenFor({ current, contexts }: Config, origin: string): string | undefined {
  const first = current === undefined ? undefined : contexts[current];
  return [first, ...Object.values(contexts)].find((context) => context?.url === origin)?.token;
}
