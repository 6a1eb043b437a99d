import { RequestError } from './api/client.ts';
import type { GitRef, ListedEnvironment, ListedRepository } from './api/types.ts';
import { CliError, usageError } from './errors.ts';
import { readCheckout, repositoryKey, type Checkout } from './git/checkout.ts';
import type { Installation, Kind } from './installation.ts';
import type { Session } from './session.ts';
import { hintOf, nearest } from './suggest.ts';

const noCheckout = 'the current folder is not a git checkout with a remote';

/** Returns the id of the named repository, or of the one of the checkout's remote. @throws CliError */
export async function repositoryId(session: Session, given = session.given.text('repo')): Promise<string> {
  if (given !== undefined) return given.includes('.') ? given : (session.installation.idInNamespace(given) ?? given);
  const checkout = await readCheckout(session.io.folder);
  if (!checkout) throw usageError(`${noCheckout}. Name the repository, such as acme.shop`);
  return (await repositoryOf(session.installation, checkout)).id;
}

/** Finds the repository whose address is the checkout's remote. @throws CliError */
export async function repositoryOf(installation: Installation, { remote }: Checkout): Promise<ListedRepository> {
  const key = repositoryKey(remote);
  const { repositories, isTruncated } = await installation.repositories();
  const found = repositories.filter(({ url }) => repositoryKey(url) === key);
  const [first, second] = found;
  if (!first && isTruncated) {
    throw usageError(
      `you see too many repositories of ${installation.name} to find the one of this checkout. Name it, such as acme.shop`,
    );
  }
  if (!first) {
    throw new CliError(
      `no repository of ${installation.name} that you can see has the address of this checkout (${key}). ` +
        'Add it with `coppice repo add`, or name another one',
    );
  }
  if (second) {
    throw usageError(
      `several repositories have the address of this checkout. Name one: ${found.map(({ id }) => id).join(', ')}`,
    );
  }
  return first;
}

/** Returns the ref in the options, or the ref of the checkout. @throws CliError */
export async function gitRef({ given, io }: Session): Promise<GitRef> {
  const named = [
    [given.text('branch'), 'branch'],
    [given.text('tag'), 'tag'],
    [given.text('pullRequest'), 'pull request'],
  ] as const;
  const [first, second] = named.flatMap(([name, type]) => (name === undefined ? [] : [{ name, type }]));
  if (second) throw usageError('only one of --branch, --tag and --pull-request can be given');
  if (first) return first;
  const checkout = await readCheckout(io.folder);
  if (!checkout) throw usageError(`${noCheckout}. Use --branch, --tag or --pull-request`);
  if (checkout.branch === undefined) {
    throw usageError('a commit is checked out, not a branch. Use --branch, --tag or --pull-request');
  }
  return { name: checkout.branch, type: 'branch' };
}

/** Returns the environments of a ref, those with contents first, then by age. */
async function environmentsOf(
  installation: Installation,
  repository: string,
  { name, type }: GitRef,
): Promise<ListedEnvironment[]> {
  const similar = await installation.environments(repository, { text: name.slice(0, 100), type });
  const found = similar.filter(({ gitRef }) => gitRef.name === name);
  const isEmpty = ({ status }: ListedEnvironment) => (status === 'empty' ? 1 : 0);
  return found.sort((a, b) => isEmpty(a) - isEmpty(b) || a.createdAt - b.createdAt);
}

/**
 * Returns the id of an environment: the given id, or that of the name in the given namespace, of the given ref, or of the
 * checkout's ref.
 * @throws CliError
 */
export async function environmentId(session: Session, given: string | undefined): Promise<string> {
  if (given !== undefined && /^[a-z0-9-]+\.[a-z0-9-]+$/.test(given)) return given;
  const { installation, io, command } = session;
  const named = given === undefined ? undefined : installation.idInNamespace(given);
  if (named !== undefined) return named;
  const checkout = await readCheckout(io.folder);
  if (!checkout) throw usageError(`${noCheckout}. Name the environment, such as acme.shop-main`);
  const { id } = await repositoryOf(installation, checkout);
  const name = given ?? checkout.branch;
  if (name === undefined) throw usageError('a commit is checked out, not a branch. Name the environment');
  for (const type of ['branch', 'tag', 'pull request'] as const) {
    const [first] = await environmentsOf(installation, id, { name, type });
    if (first) return first.id;
  }
  throw new CliError(`${id} has no environment of ${name}. Create one with \`${command} env spawn\``);
}

/** Runs requests for a named resource. If it does not exist, the error suggests the most similar name. */
export async function suggesting<T>(session: Session, kind: Kind, name: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    if (error.status !== 404) throw kind === 'environment' ? inCommands(error, session.command) : error;
    const names = await session.installation.namesNear(kind, name);
    // The named resource exists, so the 404 concerns another one.
    if (names.includes(name)) throw error;
    const near = nearest(name, names);
    const list = { group: 'group', repository: 'repo', environment: 'env' }[kind];
    const hint =
      near === undefined ? `\`${session.command} ${list} list\` lists those that you can see` : `Did you mean ${near}?`;
    throw new CliError(`there is no ${kind} ${name}, or you cannot see it. ${hint}`, undefined, { cause: error });
  }
}

/** Replaces the requests that an error message suggests by the commands that send them. */
function inCommands(error: RequestError, command: string): RequestError {
  const message = error.message
    .replaceAll(/POST …\/(build|rebuild)/g, (_all, verb: string) => `\`${command} env ${verb}\``)
    .replaceAll('Send PUT', `Run \`${command} env create\``)
    .replaceAll(/\bPUT\b/g, `\`${command} env create\``);
  return new RequestError(error.status, message, [], { cause: error });
}

/**
 * Runs a request for a part of a resource. If there is no such part, the error suggests the most similar one.
 * @param what the missing part in the error, such as `acme.shop has no variable`
 * @param read returns the names that exist
 */
export async function suggestingPart<T>(
  { what, name, read }: { what: string; name: string; read: () => Promise<readonly string[]> },
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof RequestError) || error.status !== 404) throw error;
    const names = await read();
    // The named part exists, so the 404 concerns another one.
    if (names.includes(name)) throw error;
    throw new CliError(`${what} ${name}. ${hintOf(name, names)}`, undefined, { cause: error });
  }
}
