import { z } from 'zod';
import type { RestClient } from '../client/rest-client.ts';
import { waitFor } from '../support/wait-for.ts';
import { pushBranches } from '../end-to-end/branches.ts';
import { conditionOf, startHarness, type Harness } from '../end-to-end/harness.ts';

const anything = z.looseObject({});
export type Json = z.infer<typeof anything>;

/** Branches for cases that need an unused environment. */
const branches = ['one', 'two', 'three', 'four', 'five'];

/** A page, also under an alias, that is published as the reusable environment `base`. */
const page = {
  'compose.yaml': `x-coppice: { reusable: base }
services:
  web:
    build: .
    ports: ['8080:8080']
    stop_grace_period: 1s
    x-coppice: { public: [{ port: 8080 }, { port: 8080, alias: admin }] }
`,
  Dockerfile: 'FROM busybox:1\nCOPY index.html /www/\nCMD ["httpd", "-f", "-p", "8080", "-h", "/www"]\n',
  'index.html': 'the contract\n',
};

/** Responses of the API for a group in which every field of the contract has a value. */
export interface Seen {
  group: string;
  groups: Json[];
  detail: Json;
  groupSettings: Json;
  repository: Json;
  repositorySettings: Json;
  environment: Json;
  user: Json;
  email: string;
}

/** What the cases use: a user's group, with a repository of one small page on several branches. */
export interface World {
  harness: Harness;
  client: RestClient;
  group: string;
  origin: string;
  repository: string;
  /** Returns a branch of the repository that no other case uses. */
  takeBranch: () => string;
  /** Adds repositories sequentially: many at one host would wait for each other longer than the API does. */
  inSequence: <T>(add: () => Promise<T>) => Promise<T>;
  /** Adds a repository with that page on `main` only, for cases that change it. */
  newRepository: (name: string) => Promise<string>;
  /** Returns the body of a response that must have this status. */
  ask: (status: number, method: string, path: string, body?: unknown, as?: RestClient) => Promise<Json>;
  /** Like ask, for a response that is a list. */
  list: (status: number, method: string, path: string, body?: unknown) => Promise<Json[]>;
}

export async function startWorld(): Promise<World> {
  const harness = await startHarness('contract');
  const { client, group } = harness;
  const origin = `${harness.connection.gitUrl}/${group}/page.git`;
  const shop = `${harness.connection.gitUrl}/${group}/shop.git`;
  await pushBranches(origin, page, ['main']);
  await pushBranches(shop, page, ['main', ...branches]);
  const answer = async (status: number, method: string, path: string, body: unknown, as: RestClient) => {
    const request = `${method} ${path}`;
    // The cases run side by side, so that the API is busy.
    const { status: got, text } = await (status === 503
      ? as.send(method, path, body)
      : as.sendUntilAccepted(method, path, body, 60));
    if (got !== status) throw new Error(`${request}: ${got} instead of ${status}: ${text}`);
    return JSON.parse(text) as unknown;
  };
  const repository = await harness.addRepository('shop', shop);
  await answer(202, 'POST', `/api/repository/${repository}/sync`, undefined, client);
  const free = [...branches];
  let last: Promise<unknown> = Promise.resolve();
  const inSequence = <T>(add: () => Promise<T>): Promise<T> => {
    const added = last.then(add);
    last = added.catch(() => undefined);
    return added;
  };
  return {
    harness,
    client,
    group,
    origin,
    repository,
    takeBranch: () => {
      const branch = free.pop();
      if (branch === undefined) throw new Error('there are more cases than branches');
      return branch;
    },
    inSequence,
    // On a busy machine the Git server may respond after the API's timeout; the repository is then not kept.
    newRepository: (name) =>
      inSequence(() => waitFor(`the repository ${name}`, 60, () => harness.addRepository(name, origin))),
    ask: async (status, method, path, body, as = client) =>
      anything.parse(await answer(status, method, path, body, as)),
    list: async (status, method, path, body) =>
      z.array(anything).parse(await answer(status, method, path, body, client)),
  };
}

/** Builds and publishes an environment. @returns the IDs of its repository and itself */
export async function show({ harness, group, newRepository, ask }: World): Promise<{ repository: string; id: string }> {
  const repository = await newRepository('seen');
  const path = `/api/repository/${repository}`;
  await ask(200, 'POST', `${path}/settings`, {
    environmentTTL: 86_400,
    scheduledRebuild: { mode: 'notclones', hour: '03:30' },
    serviceFile: { mode: 'both', serviceFile: Buffer.from('services: {}\n').toString('base64') },
    reusable: [{ label: 'base', refs: [{ name: 'main', type: 'branch' }] }],
  });
  await ask(201, 'POST', `${path}/variables`, { name: 'WORD', value: 'swordfish', visibility: 'buildtime' });
  await ask(201, 'POST', `/api/group/${group}/variables`, { name: 'GREETING', value: 'hello' });
  const expirationTime = '2100-01-02T03:04:05Z';
  await ask(201, 'POST', '/api/user/tokens', { name: 'robot', expirationTime, readOnly: true });
  return { repository, id: await harness.spawn(repository, 'main', { name: 'The page' }) };
}

/** Reads everything about it after it was published. */
export async function see(
  { client, group, ask, list }: World,
  { repository, id }: { repository: string; id: string },
): Promise<Seen> {
  const path = `/api/repository/${repository}`;
  await client.waitForEnvironment(id, (one) => conditionOf(one, 'Published')?.status === 'True', 120);
  return {
    group,
    groups: await list(200, 'GET', '/api/groups'),
    detail: await ask(200, 'GET', `/api/group/${group}`),
    groupSettings: await ask(200, 'GET', `/api/group/${group}/settings`),
    repository: await ask(200, 'GET', path),
    repositorySettings: await ask(200, 'GET', `${path}/settings`),
    environment: await ask(200, 'GET', `/api/environment/${id}`),
    user: await ask(200, 'GET', '/api/user/info'),
    email: client.email ?? '',
  };
}
