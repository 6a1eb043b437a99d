import { batch, signal } from '@preact/signals';
import { send } from '../api/client.ts';
import type { Change, EnvironmentItem, GroupItem, RepositoryItem } from '../api/items.ts';
import type { StreamEvent } from '../view/event-parser.ts';
import { eventPosition, invalidateWhere } from './resource.ts';
import { followEvents } from './shared-events.ts';

/** `live`: the shown data is current. Otherwise it was last current at `since`, in Unix milliseconds. */
export type Connection = { kind: 'connecting' } | { kind: 'live' } | { kind: 'stale'; since: number };

export const connection = signal<Connection>({ kind: 'connecting' });
/** The newest known items by id. Lists show these instead of the items that they read earlier. */
export const environments = signal<ReadonlyMap<string, EnvironmentItem>>(new Map());
export const repositories = signal<ReadonlyMap<string, RepositoryItem>>(new Map());
export const groups = signal<ReadonlyMap<string, GroupItem>>(new Map());
export const deleted = signal<ReadonlySet<string>>(new Set());

let reconnect: (() => void) | undefined;

/** Starts to follow changes of everything that the user sees. */
export function startLive(account: string): void {
  if (reconnect) return;
  reconnect = followEvents(account, {
    onEvents: (events, lastEventId) => {
      batch(() => {
        for (const event of events) handle(event);
      });
      eventPosition.lastEventId = lastEventId;
    },
    onLost: (lastHeard) => {
      if (connection.value.kind === 'live') connection.value = { kind: 'stale', since: lastHeard };
    },
    onRefused: askToSignIn,
  });
}

/** Reconnects immediately, because the user has signed in again. */
export function reopen(): void {
  reconnect?.();
}

function handle({ type, data }: StreamEvent): void {
  if (type === 'change') {
    apply(JSON.parse(data) as Change);
  } else if (type === 'reset' || type === 'ready') {
    connection.value = { kind: 'live' };
    if (type === 'ready') return;
    environments.value = new Map();
    repositories.value = new Map();
    groups.value = new Map();
    deleted.value = new Set();
    invalidateWhere((path) => !path.includes('/settings'));
  }
}

/** Asks the user to sign in again if the session has ended. Resolves when another connection can be tried. */
async function askToSignIn(): Promise<void> {
  try {
    await send('GET', '/api/user/info');
  } catch {
    // The user did not sign in, or the server does not answer: the next attempt to connect shows which.
  }
}

function apply(change: Change): void {
  if (change.change === 'deleted') {
    deleted.value = new Set([...deleted.value, change.id]);
  } else {
    if (deleted.value.has(change.id)) deleted.value = new Set([...deleted.value].filter((id) => id !== change.id));
    if (change.kind === 'environment') environments.value = newer(environments.value, change.item);
    else if (change.kind === 'repository') repositories.value = newer(repositories.value, change.item);
    else groups.value = newer(groups.value, change.item);
  }
  invalidateChanged(change);
}

function newer<Item extends { id: string; version: number }>(
  known: ReadonlyMap<string, Item>,
  item: Item,
): ReadonlyMap<string, Item> {
  const before = known.get(item.id);
  return before && before.version >= item.version ? known : new Map(known).set(item.id, item);
}

/** Ids of the items in the lists on the screen. */
const listed = new Set<string>();

export function noteListed(items: Iterable<{ id: string }>): void {
  for (const { id } of items) listed.add(id);
}

/** Lists show a change of a known object from its event. Their counts and their order follow a little later. */
const waitMs = { object: 100, list: 2000 };
let changedIds: Pick<Change, 'kind' | 'id'>[] = [];
let objectTimer: ReturnType<typeof setTimeout> | undefined;
let listTimer: ReturnType<typeof setTimeout> | undefined;

function invalidateChanged({ kind, id, change }: Change): void {
  changedIds.push({ kind, id });
  objectTimer ??= setTimeout(() => {
    objectTimer = undefined;
    const own = changedIds.map((one) => `/api/${one.kind}/${encodeURIComponent(one.id)}`);
    changedIds = [];
    invalidateWhere((path) => own.some((start) => isOf(path, start)));
  }, waitMs.object);
  const isUnknown = change === 'deleted' || !listed.has(id);
  if (isUnknown) {
    listed.add(id);
    clearTimeout(listTimer);
    listTimer = undefined;
  }
  listTimer ??= setTimeout(
    () => {
      listTimer = undefined;
      invalidateWhere(isList);
    },
    isUnknown ? waitMs.object : waitMs.list,
  );
}

/** Returns whether a path reads an object or a part of it, except settings: users edit them, so they stay as opened. */
function isOf(path: string, own: string): boolean {
  if (path !== own && !path.startsWith(`${own}/`) && !path.startsWith(`${own}?`)) return false;
  return !path.includes('/settings') && !path.includes('/environments?') && !path.includes('/usage');
}

function isList(path: string): boolean {
  return path.startsWith('/api/overview') || path === '/api/groups' || path.includes('/environments?');
}
