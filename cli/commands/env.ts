import { RequestError } from '../api/client.ts';
import { listedOf } from '../api/listed-environment.ts';
import type { EnvironmentView, ListedEnvironment, SpawnBody } from '../api/types.ts';
import { CliError, usageError } from '../errors.ts';
import { requireConsent } from '../consent.ts';
import type { EnvironmentFilter, EnvironmentRequest, WatchedEnvironments } from '../installation.ts';
import { note, write } from '../io.ts';
import { buildName } from '../output/build-name.ts';
import { limitText, seconds, timeText } from '../output/duration.ts';
import { printItem, printList, printValue } from '../output/print.ts';
import { visible, visibleJson } from '../output/safe-text.ts';
import { tableText } from '../output/table.ts';
import { environmentId, gitRef, repositoryId, repositoryOf, suggesting } from '../resolve.ts';
import { readCheckout } from '../git/checkout.ts';
import type { Run, Session } from '../session.ts';
import { shownEnvironments } from '../shown.ts';
import { openBrowser } from '../terminal/open-browser.ts';
import { WAITED_FOR, waitForBuild, waitForState } from '../wait/wait.ts';

const shown = (session: Session) => shownEnvironments(session.io.now);

/** Reads an environment without starting a build. */
export function readEnvironment(session: Session, id: string): Promise<EnvironmentView> {
  return suggesting(session, 'environment', id, () => session.installation.environment(id));
}

/** Returns the repositories to list: the named one, the checkout's, or all. */
async function listedRepositories(session: Session): Promise<string[]> {
  const { installation, given, io } = session;
  const named = given.text('repo');
  if (named !== undefined) return [await repositoryId(session, named)];
  if (!given.flag('all')) {
    const checkout = await readCheckout(io.folder);
    if (checkout) return [(await repositoryOf(installation, checkout)).id];
  }
  const { repositories, isTruncated } = await installation.repositories();
  if (isTruncated) note(io, 'there are more repositories, whose environments are not listed. Name one with --repo');
  return repositories.map(({ id }) => id);
}

export const list: Run = async (session) => {
  const { installation, given } = session;
  const repositories = await listedRepositories(session);
  const filter = { state: given.text('state'), health: given.text('health'), text: given.text('text') };
  const read = async () => {
    const lists = [];
    for (const id of repositories) {
      lists.push(await suggesting(session, 'repository', id, () => installation.environments(id, filter)));
    }
    return lists.flat();
  };
  const items = await read();
  await printList(session.io, session.format, items, shown(session));
  if (!given.flag('watch')) return;
  const isListed = (item: ListedEnvironment) => repositories.includes(item.rid) && matches(item, filter);
  await watch(session, { list: read }, items, isListed);
};

/** Returns whether an environment matches a filter, as GET /api/repository/{id}/environments decides it. */
function matches({ id, name, gitRef, commit, status, health }: ListedEnvironment, filter: EnvironmentFilter): boolean {
  const isOneOf = (value: string, values: string | undefined) =>
    values === undefined || values.split(',').includes(value);
  const text = `${id}\n${name}\n${gitRef.name}\n${commit ?? ''}`.toLowerCase();
  return (
    isOneOf(status, filter.state) && isOneOf(health, filter.health) && text.includes(filter.text?.toLowerCase() ?? '')
  );
}

export const get: Run = async (session, [name]) => {
  const id = await environmentId(session, name);
  const { io, format } = session;
  const view = await readEnvironment(session, id);
  if (format === 'json' || format === 'yaml') await printValue(io, format, view);
  else await printItem(io, format, listedOf(view), shown(session));
  if (format === 'table' || format === 'wide') {
    await printServices(session, view);
    await printIncluded(session, view);
  }
  if (session.given.flag('watch')) await watch(session, { id }, [listedOf(view)], () => true);
};

async function printServices({ io, format }: Session, environment: EnvironmentView): Promise<void> {
  const { services, problem, weburl, aliases, approval } = environment;
  const reasonOf = (name: string) => (problem?.service === name ? problem.message : undefined);
  if (services.length > 0) {
    const columns = [
      { title: 'SERVICE', value: (service: (typeof services)[number]) => service.name },
      { title: 'READY', value: ({ ready }: (typeof services)[number]) => (ready ? 'yes' : 'no') },
      { title: 'RESTARTS', value: ({ restarts }: (typeof services)[number]) => restarts },
      { title: 'MESSAGE', value: ({ name, message }: (typeof services)[number]) => message ?? reasonOf(name) },
      ...(format === 'wide' ? [{ title: 'IMAGE', value: ({ image }: (typeof services)[number]) => image }] : []),
    ];
    await write(io.out, `\n${tableText(columns, services)}`);
  }
  if (weburl !== undefined) await write(io.out, `\n${visible(weburl)}\n`);
  for (const [alias, address] of Object.entries(aliases)) await write(io.out, `${visible(`${alias}: ${address}`)}\n`);
  for (const line of settingLines(environment)) await write(io.out, `${visible(line)}\n`);
  const building = buildText(environment);
  if (building !== undefined) await write(io.out, `\n${visible(building)}\n`);
  if (approval?.waitingCommit !== undefined && problem?.reason !== 'WaitingForApproval') {
    await write(io.out, `\ncommit ${visible(approval.waitingCommit)} of a fork waits for an approval\n`);
  }
  if (problem) await write(io.out, `\n${visible(`${problem.reason}: ${problem.message}`)}\n`);
}

/** Returns who can open it, when its contents end, when it sleeps, and what is overridden. */
function settingLines({ access, expiresAt, settings, conditions }: EnvironmentView): string[] {
  const { afterSeconds } = settings.sleep;
  const overridden = conditions.find(({ type }) => type === 'Overridden');
  return [
    `access: ${access}`,
    ...(expiresAt === undefined ? [] : [`expires: ${timeText(expiresAt)}`]),
    ...(afterSeconds === undefined ? [] : [`sleeps after: ${limitText(afterSeconds)}`]),
    ...(overridden ? [`overrides: ${overridden.message}`] : []),
  ];
}

/** Returns the name of a build, with its commit if that is known. */
function named(number: number | undefined, commit: string | undefined): string {
  return buildName(number) + (commit === undefined ? '' : ` of ${commit.slice(0, 12)}`);
}

/** Returns what the running build builds, or which one runs after a failure; undefined otherwise. */
function buildText({ build, deployedBuild, commit: runningCommit }: EnvironmentView): string | undefined {
  if (build?.result === 'failed') {
    const keeps = deployedBuild === undefined ? 'none runs' : `${named(deployedBuild, runningCommit)} keeps running`;
    return `${named(build.number, build.commit)} failed; ${keeps}`;
  }
  if (build?.result !== 'running') return undefined;
  const { number, commit, subject, author } = build;
  const words = [subject, author === undefined ? undefined : `by ${author}`].filter((text) => text !== undefined);
  return `${named(number, commit)} is running${words.length > 0 ? `: ${words.join(', ')}` : ''}`;
}

async function printIncluded({ io }: Session, { repositories = [] }: EnvironmentView): Promise<void> {
  if (repositories.length === 0) return;
  const columns = [
    { title: 'INCLUDES', value: ({ id }: (typeof repositories)[number]) => id },
    { title: 'BRANCH', value: ({ branch }: (typeof repositories)[number]) => branch },
    { title: 'COMMIT', value: ({ commit }: (typeof repositories)[number]) => commit?.slice(0, 8) },
  ];
  await write(io.out, `\n${tableText(columns, repositories)}`);
}

/** Prints a row for each change to what was printed, until it is interrupted, or the only environment is deleted. */
async function watch(
  session: Session,
  watched: WatchedEnvironments,
  printed: readonly ListedEnvironment[],
  isWatched: (item: ListedEnvironment) => boolean,
): Promise<void> {
  const { io, installation, format } = session;
  const versions = new Map(printed.map((item) => [item.id, item.version]));
  for await (const { id, now: item } of installation.changes(watched, new AbortController().signal)) {
    if (item === 'deleted') {
      if (versions.delete(id)) await printDeleted(session, id);
      if ('id' in watched) return;
      continue;
    }
    if (!isWatched(item) || versions.get(item.id) === item.version) continue;
    versions.set(item.id, item.version);
    if (format === 'json') await write(io.out, `${visibleJson(JSON.stringify(item))}\n`);
    else if (format === 'yaml' || format === 'name') {
      if (format === 'yaml') await write(io.out, '---\n');
      await printItem(io, format, item, shown(session));
    } else await write(io.out, tableText(shownColumns(session), [item]).split('\n').slice(1).join('\n'));
  }
}

async function printDeleted({ io, format }: Session, id: string): Promise<void> {
  if (format === 'json') await write(io.out, `${JSON.stringify({ id, deleted: true })}\n`);
  else if (format === 'yaml') await write(io.out, `---\nid: ${id}\ndeleted: true\n`);
  else note(io, `${id} was deleted`);
}

function shownColumns(session: Session) {
  return shown(session).columns.filter(({ isWide }) => session.format === 'wide' || isWide !== true);
}

export const spawnEnvironment: Run = async (session, [named]) => {
  const { installation, given } = session;
  const repository = await repositoryId(session, named ?? given.text('repo'));
  const ttl = given.seconds('ttl');
  const name = given.text('name');
  const body: SpawnBody = {
    gitRef: await gitRef(session),
    build: given.flag('build'),
    ifExists: given.flag('new') ? 'create' : 'reuse',
    ...(ttl !== undefined && { ttl }),
    ...(name !== undefined && { name }),
  };
  const spawned = await suggesting(session, 'repository', repository, () => installation.spawn(repository, body));
  note(session.io, `${spawned.id}: ${spawned.reused === true ? 'requested for the existing environment' : 'created'}`);
  const commit = given.text('commit');
  if (given.flag('wait') && body.build !== false) {
    const build = await waitForBuild(session, spawned.id, spawned.request?.id);
    if (commit !== undefined && build.commit !== commit) {
      throw new CliError(
        `${spawned.id} was built from ${build.commit ?? 'another commit'}, not from ${commit}: its ref has moved`,
      );
    }
  }
  await printEnvironment(session, spawned.id);
};

async function printEnvironment(session: Session, id: string): Promise<void> {
  const { io, format, installation } = session;
  const view = await installation.environment(id);
  if (format === 'json' || format === 'yaml') await printValue(io, format, view);
  else await printItem(io, format, listedOf(view), shown(session));
}

async function send(session: Session, name: string | undefined, request: EnvironmentRequest) {
  const id = await environmentId(session, name);
  const view = await suggesting(session, 'environment', id, () => session.installation.request(id, request));
  return { id, view };
}

export const build: Run = async (session, [name]) => {
  const { id, view } = await send(session, name, { name: 'build' });
  if (session.given.flag('wait')) await waitForBuild(session, id, view.request?.id);
  await printEnvironment(session, id);
};

/** Asks at a terminal before volumes are deleted. @throws CliError if the answer is not yes */
async function confirmed(session: Session, name: string | undefined, then: string): Promise<string> {
  const { io, given } = session;
  const id = await environmentId(session, name);
  if (given.flag('yes') || !io.isTerminal.in || !io.isTerminal.err) return id;
  const { gitRef, status } = await readEnvironment(session, id);
  const what = `the contents of ${id} (${gitRef.type} ${gitRef.name}, ${status}) with all volumes${then}`;
  await requireConsent(session, `Delete ${what}?`);
  return id;
}

export const rebuild: Run = async (session, [name]) => {
  const environment = await confirmed(session, name, ', and build without cache');
  const { id, view } = await send(session, environment, { name: 'rebuild' });
  if (session.given.flag('wait')) await waitForBuild(session, id, view.request?.id);
  await printEnvironment(session, id);
};

export const create: Run = async (session, [name]) => {
  const ttl = session.given.seconds('ttl');
  const isBuilt = session.given.flag('build');
  const { id, view } = await send(session, name, {
    ...{ name: 'create', build: isBuilt },
    ...(ttl !== undefined && { ttl }),
  });
  if (session.given.flag('wait') && isBuilt) await waitForBuild(session, id, view.request?.id);
  await printEnvironment(session, id);
};

export const remove: Run = async (session, [name]) => {
  const { id } = await send(session, await confirmed(session, name, ''), { name: 'delete' });
  if (session.given.flag('wait')) await untilEmpty(session, id);
  note(session.io, `${id}: ${session.given.flag('wait') ? 'deleted' : 'is being deleted'}`);
};

async function untilEmpty(session: Session, id: string): Promise<void> {
  try {
    await waitForState(session, id, 'empty');
  } catch (error) {
    // The object is gone with its contents.
    if (!(error instanceof RequestError) || error.status !== 404) throw error;
  }
}

export const sleep: Run = async (session, [name]) => {
  const { id } = await send(session, name, { name: 'sleep' });
  await printEnvironment(session, id);
};

export const wake: Run = async (session, [name]) => {
  const { id } = await send(session, name, { name: 'wake' });
  if (session.given.flag('wait')) await waitForState(session, id, 'healthy');
  await printEnvironment(session, id);
};

/** Sets the time to live, or shows it if no duration is given. */
export const ttl: Run = async (session, [first, second]) => {
  // Only ids contain a dot. Any other single argument is the duration, for the checkout's environment.
  const isId = second !== undefined || first?.includes('.') === true;
  const [name, text] = isId ? [first, second] : [undefined, first];
  if (text === undefined) {
    const id = await environmentId(session, name);
    const { expiresAt } = await readEnvironment(session, id);
    noteExpiry(session, id, expiresAt);
    await printEnvironment(session, id);
    return;
  }
  const lifetime = seconds(text);
  const { id } = await send(session, name, { name: 'ttl', ttl: lifetime });
  // The operator sets the time from the request, which takes a moment.
  noteExpiry(session, id, lifetime === 0 ? undefined : session.io.now() / 1000 + lifetime);
  await printEnvironment(session, id);
};

/** Approves the commit that the user has reviewed; never one that was pushed since. */
export const approve: Run = async (session, [name, commit = '']) => {
  const { id } = await send(session, name, { name: 'approve', commit });
  note(session.io, `${id}: commit ${commit} is approved`);
  await printEnvironment(session, id);
};

/** @param expiresAt seconds since 1970 */
function noteExpiry({ io }: Session, id: string, expiresAt: number | undefined): void {
  if (expiresAt === undefined) note(io, `${id} has no time to live`);
  else note(io, `the contents of ${id} are deleted at ${timeText(expiresAt)}`);
}

export const wait: Run = async (session, [name]) => {
  const id = await environmentId(session, name);
  const text = session.given.text('for') ?? 'built';
  const state = WAITED_FOR.find((one) => one === text);
  if (!state) throw usageError(`--for ${text} is not known. Use one of ${WAITED_FOR.join(', ')}`);
  await suggesting(session, 'environment', id, () => waitForState(session, id, state));
  if (state !== 'deleted' && state !== 'empty') await printEnvironment(session, id);
};

export const open: Run = async (session, [name]) => {
  const id = await environmentId(session, name);
  const { weburl } = await readEnvironment(session, id);
  if (weburl === undefined)
    throw new CliError(
      `${id} has no address: none of its services is public, or none runs yet. \`${session.command} env get\` shows the state of its services`,
    );
  await write(session.io.out, `${visible(weburl)}\n`);
  if (session.io.isTerminal.out && !session.given.flag('print')) openBrowser(weburl);
};
