import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Environment } from '../../../crds/environment.ts';
import type { Repository } from '../../../crds/repository.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import { Informer } from '../../../kubernetes/informer.ts';
import { listWatch } from '../../../kubernetes/list-watch.ts';
import { type ObjectName, type ResourceType } from '../../../kubernetes/resource-type.ts';
import { silentLogger } from '../../../kubernetes/testing/silent-logger.ts';
import { ENVIRONMENT_INDEXES } from '../../../operator/shared/environment-keys.ts';
import { HostBusyError } from '../../../operator/source/errors.ts';
import { GenericHost } from '../../../operator/source/hosts/generic.ts';
import { HostHttp } from '../../../operator/source/hosts/host-http.ts';
import { RepositorySync, type SyncOutcome } from '../../../operator/kinds/repository/repository-sync.ts';
import { Source } from '../../../operator/source/git/source.ts';
import { serveByHttpBackend } from '../../git-server/http-backend.ts';
import { createNamespace, deleteNamespace, deleteWidgetType, testClient } from '../api-server.ts';
import { createOwnType, environmentTypeOf } from '../own-types.ts';
import { groupFlows } from '../../../operator/source/hosts/testing/group-flows.ts';

const branches = 5000;
const type = environmentTypeOf('sync');

let client: ClusterClient;
let namespace: string;
let informer: Informer<Environment>;
let folder: string;
let server: Server;
let sync: RepositorySync;
let host: GenericHost;
const requests = { writes: 0 };

beforeAll(async () => {
  client = testClient({ observe: (method) => (requests.writes += Number(method !== 'GET')) });
  namespace = await createNamespace(client);
  await createOwnType(client, type);
  informer = new Informer({
    name: type.kind,
    source: listWatch(client, type, { namespace }),
    indexes: ENVIRONMENT_INDEXES,
    logger: silentLogger,
  });
  informer.start();
  await informer.whenSynced();
  folder = await mkdtemp(join(tmpdir(), 'sync-'));
  server = createServer((request, response) =>
    serveByHttpBackend(request, response, folder, new URL(request.url ?? '/', 'http://git')),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const rules = { isAddressAllowed: () => true, ports: [port], sshPorts: [] };
  const source = new Source({ ...rules, scratch: folder, timeoutMs: 20_000 });
  const access = { origin: `http://127.0.0.1:${port}/shop.git`, credentials: undefined };
  const send = () => Promise.reject(new Error('nothing is asked by HTTP'));
  host = new GenericHost(source, access, new HostHttp({ send, ports: [], now: () => new Date() }));
  sync = new RepositorySync({
    client: ofOurType(),
    environments: informer,
    repositories: { get: () => undefined },
    source,
    flows: groupFlows,
    pollSeconds: 300,
    allowance: { of: () => 10_000 },
    maxForkEnvironments: 10_000,
    now: () => new Date(),
  });
}, 60_000);

afterAll(async () => {
  server.close();
  await informer.stop();
  await deleteWidgetType(client, type);
  await deleteNamespace(client, namespace);
  client.close();
  await rm(folder, { recursive: true, force: true });
}, 60_000);

/** Returns a client for this test's own kind. It sets no finalizers, because nobody would remove them. */
function ofOurType() {
  const apiVersion = `${type.group}/${type.version}`;
  return {
    create: (_type: ResourceType, object: Environment) =>
      client.create(type, { ...object, apiVersion, metadata: { ...object.metadata, finalizers: [] } }),
    delete: (_type: ResourceType, at: ObjectName, options: object) => client.delete(type, at, options),
    patch: (_type: ResourceType, at: ObjectName, patch: object) => client.patch(type, at, patch),
  } as never;
}

function git(args: readonly string[], input?: string): string {
  return execFileSync('git', ['-C', join(folder, 'shop.git'), ...args], { encoding: 'utf8', ...(input && { input }) });
}

function updateRefs(lines: readonly string[]): void {
  git(['update-ref', '--stdin'], `${lines.join('\n')}\n`);
}

/** Reconciles until the sync is done, in as many rounds as necessary. */
async function synchronise(): Promise<{ outcome: SyncOutcome; rounds: number; seconds: number }> {
  const repository: Repository = {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Repository',
    metadata: { namespace, name: 'shop', uid: 'uid-of-shop', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { type: 'generic', generic: { origin: host.access.origin } },
  };
  const started = performance.now();
  for (let rounds = 1; ; rounds++) {
    const outcome = await withinListingCosts(() => sync.run(repository, host, new AbortController().signal));
    if (outcome) return { outcome, rounds, seconds: (performance.now() - started) / 1000 };
  }
}

/** Waits, as the controller does, until so many refs may be listed again. */
async function withinListingCosts<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof HostBusyError)) throw error;
    await sleep(error.retryAfterMs);
    return work();
  }
}

/** Returns how long the API server itself takes to create one object of the kind, in seconds. */
async function plainCreates(): Promise<number> {
  const count = 200;
  const started = performance.now();
  const numbers = Array.from({ length: count }, (_, number) => number).values();
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (const number of numbers) {
        const spec = { repository: 'other', gitRef: { name: `b${number}`, type: 'branch' as const } };
        await client.create(type, {
          apiVersion: `${type.group}/${type.version}`,
          kind: type.kind,
          metadata: { name: `other-${number}`, namespace },
          spec: { ...spec, active: false, buildOnCreate: true },
        });
      }
    }),
  );
  return (performance.now() - started) / 1000 / count;
}

const nameOf = (number: number) =>
  ['feature/cart', 'größe', 'feature-cart', 'x'.repeat(194)][number % 4]?.concat(`/${number}`) ?? '';

test(`creates an environment for each of ${branches} branches of a real repository, in rounds, and removes those of deleted ones`, async () => {
  execFileSync('git', ['init', '--quiet', '--bare', join(folder, 'shop.git')]);
  const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];
  const tree = git(['hash-object', '-t', 'tree', '-w', '/dev/null']).trim();
  const commit = git([...identity, 'commit-tree', tree, '-m', 'first']).trim();
  updateRefs(Array.from({ length: branches }, (_, number) => `create refs/heads/${nameOf(number)} ${commit}`));

  const first = await synchronise();
  expect(first.outcome.plan.counts).toEqual({ branches, tags: 0 });
  expect(first.rounds).toBe(branches / 500);
  const { items } = await client.list(type, { namespace });
  expect(new Set(items.map(({ spec }) => spec.gitRef.name)).size).toBe(branches);
  const plain = await plainCreates();
  console.info(
    `${branches} branches: ${first.seconds.toFixed(1)} s in ${first.rounds} reconciles, ` +
      `${((first.seconds / branches) * 1000).toFixed(1)} ms each; a plain create, four at once: ${(plain * 1000).toFixed(1)} ms`,
  );

  requests.writes = 0;
  const second = await synchronise();
  expect([second.rounds, requests.writes, second.outcome.changed]).toEqual([1, 0, false]);
  console.info(`again, nothing to do: ${second.seconds.toFixed(2)} s`);

  updateRefs([`delete refs/heads/${nameOf(0)}`, `create refs/heads/renamed ${commit}`]);
  await synchronise();
  const all = (await client.list(type, { namespace })).items;
  const names = all.filter(({ spec }) => spec.repository === 'shop').map(({ spec }) => spec.gitRef.name);
  expect([names.length, names.includes(nameOf(0)), names.includes('renamed')]).toEqual([branches, false, true]);
}, 300_000);
