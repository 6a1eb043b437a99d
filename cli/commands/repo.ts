import type { ListedRepository, RepositorySettingsView, RepositoryView } from '../api/types.ts';
import { usageError } from '../errors.ts';
import { readCheckout } from '../git/checkout.ts';
import { requireConsent } from '../consent.ts';
import { note } from '../io.ts';
import { pairs } from '../nested.ts';
import { counted } from '../output/counted.ts';
import { printItem, printList, printValue } from '../output/print.ts';
import { groupPath, repositoryPath, required } from '../paths.ts';
import { repositoryId, suggesting } from '../resolve.ts';
import type { Run, Session } from '../session.ts';
import { SHOWN_REPOSITORIES } from '../shown.ts';
import { readRules } from './rules.ts';
import { objectOf, partOf, splitSettings } from './settings-arguments.ts';

export const list: Run = async ({ installation, io, format, given }) => {
  const { repositories, isTruncated } = await installation.repositories();
  const group = given.text('group');
  const items = repositories.filter(({ gid }) => group === undefined || gid === group);
  await printList<ListedRepository>(io, format, items, SHOWN_REPOSITORIES);
  if (isTruncated) note(io, 'there are more repositories, which are not listed');
};

/** The parameter that holds the secret of each type. */
const secretOf: Readonly<Record<string, string>> = {
  generic: 'password',
  ownerhost: 'token',
  groupedhost: 'token',
  cloudorg: 'accessToken',
  workspacehost: 'token',
};

export const add: Run = async (session, [url]) => {
  const { client, io, given } = session;
  const type = given.text('type') ?? 'generic';
  const secret = secretOf[type];
  if (secret === undefined)
    throw usageError(`--type ${type} is not known. Use one of ${Object.keys(secretOf).join(', ')}`);
  const params = pairs(given.list('param'));
  if (type === 'generic') params['origin'] ??= url ?? (await remoteOf(session));
  if (given.flag('secretStdin')) params[secret] = (await io.readInput()).trim();
  const group = required(given.text('group'), '--group');
  const name =
    given.text('name') ?? nameOf(params['origin'] ?? params['repo'] ?? params['project'] ?? params['repository']);
  const body = { name: required(name, '--name'), type, params, sync: true };
  const send = () => client.send<RepositoryView>('POST', groupPath(group), { body });
  const added = await suggesting(session, 'group', group, send);
  await printRepository(session, added);
  const why = unverified(added);
  if (why !== undefined) note(io, `${added.id}: not verified yet: ${why}`);
};

/** Returns why it is not known whether the repository can be read; undefined if it can be. */
function unverified({ conditions }: RepositoryView): string | undefined {
  const known = (type: string) =>
    conditions.find((condition) => condition.type === type && condition.status === 'True');
  if (known('Ready')) return undefined;
  return known('Reconciling')?.message ?? 'the operator has not read it. `coppice repo list` shows when it has';
}

/** Deletes a repository with its environments. */
export const remove: Run = async (session, [name]) => {
  const { client, io } = session;
  const id = await repositoryId(session, name);
  const path = repositoryPath(id);
  const { environments } = await suggesting(session, 'repository', id, () => client.get<RepositoryView>(path));
  await requireConsent(session, `Delete ${id} with ${counted(environments.length, 'environment')} and all volumes?`);
  await client.send('DELETE', path);
  note(io, `${id}: is being deleted`);
};

async function remoteOf({ io }: Session): Promise<string> {
  const checkout = await readCheckout(io.folder);
  if (!checkout) throw usageError('the current folder is not a git checkout with a remote. Name the URL');
  return checkout.remote;
}

/** Returns the last part of a path, without `.git`. */
function nameOf(path: string | undefined): string | undefined {
  return path
    ?.replace(/\/+$/, '')
    .split(/[/:]/)
    .at(-1)
    ?.replace(/\.git$/, '');
}

async function printRepository({ io, format }: Session, view: RepositoryView): Promise<void> {
  if (format === 'json' || format === 'yaml') await printValue(io, format, view);
  else {
    const { id, gid, name, url, type } = view;
    const ready = view.conditions.find((condition) => condition.type === 'Ready')?.status === 'True';
    const health = ready ? ('healthy' as const) : ('progressing' as const);
    await printItem(io, format, { id, gid, name, url, type, health, version: 0 }, SHOWN_REPOSITORIES);
  }
}

export const sync: Run = async (session, [name]) => {
  const id = await repositoryId(session, name);
  await suggesting(session, 'repository', id, () => session.installation.sync(id));
  note(session.io, `${id}: its refs are being read`);
};

/** Shows settings, or changes those given as `NAME=VALUE` and the rules of a file. */
export const settings: Run = async (session, args) => {
  const { name, changes: body } = splitSettings(args);
  const id = await repositoryId(session, name);
  const path = `${repositoryPath(id)}/settings`;
  const { client, format, io } = session;
  const file = session.given.text('rules');
  if (file !== undefined) body['sync'] = { ...objectOf(body['sync']), rules: await readRules(io, file) };
  const isChange = Object.keys(body).length > 0;
  const answer = await suggesting(session, 'repository', id, () =>
    isChange ? client.send<RepositorySettingsView>('POST', path, { body }) : client.get<RepositorySettingsView>(path),
  );
  const isYaml = format !== 'json';
  const printed = shownSettings(answer, { showsSecrets: session.given.flag('showSecrets'), decodes: isYaml });
  await printValue(io, isYaml ? 'yaml' : 'json', isChange ? partOf(printed, body) : printed);
};

type ShownSettings = Omit<RepositorySettingsView, 'access'> & { access?: RepositorySettingsView['access'] | null };

/** Returns settings for people: without the secret of the webhook, and with the text of the service file. */
export function shownSettings(
  settings: RepositorySettingsView,
  { showsSecrets, decodes }: { showsSecrets: boolean; decodes: boolean },
): ShownSettings {
  const { serviceFile, webhook } = settings;
  const text = Buffer.from(serviceFile.serviceFile, 'base64').toString('utf8');
  return {
    ...settings,
    ...(decodes && { serviceFile: { ...serviceFile, serviceFile: text } }),
    // A setting that is not shown cannot be found.
    ...(decodes && { environmentTTL: settings.environmentTTL ?? 0, access: settings.access ?? null }),
    ...(webhook && !showsSecrets && { webhook: { ...webhook, secret: '(hidden)' } }),
  };
}
