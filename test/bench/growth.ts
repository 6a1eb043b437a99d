import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { groupNamespace } from '../../crds/ids.ts';
import { LABELS } from '../../crds/labels.ts';
import { requestAnnotation, requestValue } from '../../crds/requests.ts';
import {
  ConfigMap,
  Deployment,
  Job,
  Namespace,
  PersistentVolumeClaim,
  Pod,
  RoleBinding,
  Secret,
  Service,
  type ResourceType,
} from '../../kubernetes/resource-type.ts';
import { silentLogger } from '../../kubernetes/testing/silent-logger.ts';
import { ImageCollector, type StoredImages } from '../../operator/images/build/image-collector.ts';
import { groupBuilderName } from '../../operator/images/builders/identity.ts';
import { RegistryClient } from '../../operator/images/registry/client.ts';
import { createSend } from '../../operator/source/network/send.ts';
import { FoundImages } from '../../operator/images/registry/found-images.ts';
import { NODE_CONTAINER } from '../cluster/kind-cluster.ts';
import type { Progress } from '../support/progress.ts';
import { readRegistry } from '../cluster/registries/registry.ts';
import { run } from '../support/run.ts';
import { waitFor } from '../support/wait-for.ts';
import { randomName, type Harness } from '../end-to-end/harness.ts';
import { isSettledAs } from '../end-to-end/lifecycle-conditions.ts';
import { pushRepository } from '../sample/push-repository.ts';
import { atOnce } from './at-once.ts';
import {
  addBenchGroups,
  addRepository,
  createEnvironment,
  environmentAt,
  type BenchGroup,
  type Target,
} from './bench-groups.ts';
import { liveMemoryMiB } from './live-memory.ts';
import { secondsOf, type Figure } from './measure.ts';
import { BUILDER_NAMESPACE, type ObservedCluster } from './observed-cluster.ts';
import { withBench } from './with-bench.ts';

/** A tenth of a company of 40 teams, whose year passes in minutes. */
const teams = 4;
const months = 12;
const perTeam = 2;
/** The first months fill caches. */
const warmUp = 2;
/** Until the builders are stopped, and then the API server has counted its objects, which takes up to 132 s. */
const settleMs = 210_000;

/** What is left at the end of a month, when all of its environments are deleted. */
interface Left {
  namespaces: number;
  /** Objects in the groups' namespaces, and of their builders. */
  objects: number;
  /** All objects that the API server stores in etcd, without Events and Leases. */
  stored: number;
  /** What the lasting environment has: objects in its namespace, and its Secrets elsewhere. */
  lasting: number;
  /** Redis keys and entries of indexes that name an environment of the year. */
  redis: number;
  /** Redis keys of the installation without an expiry. */
  unlimited: number;
  redisMiB: number;
  images: number;
  imageMiB: number;
  cacheMiB: number;
  operatorMiB: number;
}

/**
 * Measures a year of a company in which environments are created with a commit of their own, built, and deleted, and one
 * lasts and gets a commit each month: what they leave behind. Housekeeping then deletes the images as if their time had
 * passed, and the groups are deleted.
 */
export function benchGrowth(progress: Progress): Promise<Figure[]> {
  return withBench(progress, randomName('none'), async ({ harness, cluster, watch }) => {
    const all = await addBenchGroups(
      harness,
      Array.from({ length: teams + 1 }, () => 0),
    );
    for (const group of all) await addRepository(cluster.client, group);
    // The environment that lasts has a group of its own, so that its builds do not count as those of the teams.
    const [ofLasting, ...groups] = all;
    const lasting = { group: ofLasting?.name ?? '', branch: 'main' };
    const uids = new Set<string>();
    const year: Left[] = [];
    const seconds = await secondsOf(async () => {
      for (let month = 1; month <= months; month++) {
        await progress.step(`month ${month} of ${months}`, async () => {
          await pushCommit(ofLasting?.origin ?? '', lasting.branch);
          await (month === 1 ? createEnvironment(cluster.client, lasting) : requestBuild(cluster, lasting));
          await watch.until(lasting, (one) => hasBuilt(one, month), 600);
          const targets = await pushMonth(groups, month);
          const built = watch.allAt('built', targets, 600);
          await Promise.all([built, atOnce(targets.length, targets, (one) => createEnvironment(cluster.client, one))]);
          for (const uid of await deleteAll(cluster, targets)) uids.add(uid);
          if (month === warmUp || month === months) await delay(settleMs);
          year.push(await measure({ harness, cluster, groups, uids, lasting }));
        });
      }
    });
    const collected = await progress.step('housekeeping', () => collect(groups, 0));
    return [...figuresOf(year, seconds), ...collectedFigures(year, collected)];
  });
}

/** Pushes a branch with a commit of its own for each environment of the month. */
async function pushMonth(groups: readonly BenchGroup[], month: number): Promise<Target[]> {
  const targets = groups.flatMap(({ name }) =>
    Array.from({ length: perTeam }, (_, index) => ({ group: name, branch: `m${month}-${index}` })),
  );
  const originOf = new Map(groups.map(({ name, origin }) => [name, origin]));
  for (const { group, branch } of targets) await pushCommit(originOf.get(group) ?? '', branch);
  return targets;
}

async function pushCommit(url: string, branch: string): Promise<void> {
  await pushRepository({
    url,
    branch,
    files: {
      'compose.yaml': 'services:\n  web:\n    build: .\n    ports: ["8080"]\n',
      Dockerfile: 'FROM node:24-slim\nCOPY . /app/\nCMD ["node", "/app/server.mjs"]\n',
      'server.mjs':
        "import { createServer } from 'node:http';\ncreateServer((request, response) => response.end()).listen(8080);\nprocess.on('SIGTERM', () => process.exit(0));\n",
      // A layer of a mebibyte that no other image has, and that cannot be compressed.
      data: randomBytes(2 ** 20 * 0.75).toString('base64'),
    },
  });
}

async function requestBuild({ client }: ObservedCluster, target: Target): Promise<void> {
  const annotations = { [requestAnnotation('build')]: requestValue(new Date(), randomUUID()) };
  await client.patch(ENVIRONMENT, environmentAt(target), { metadata: { annotations } });
}

/** Returns whether the environment runs the image of this build. */
function hasBuilt(environment: Environment | undefined, number: number): boolean {
  return environment?.status?.build?.number === number && isSettledAs('built', environment);
}

/** Deletes the environments, waits until their namespaces are gone, and returns their UIDs. */
async function deleteAll({ client }: ObservedCluster, targets: readonly Target[]): Promise<string[]> {
  const objects = await Promise.all(targets.map((target) => client.get(ENVIRONMENT, environmentAt(target))));
  await atOnce(targets.length, targets, (target) => client.delete(ENVIRONMENT, environmentAt(target)));
  await waitFor('the namespaces to be gone', 300, async () => {
    for (const { metadata } of objects) {
      const labelSelector = `${LABELS.environmentUid}=${metadata.uid ?? ''}`;
      if ((await client.list(Namespace, { labelSelector })).items.length > 0) return undefined;
    }
    return true;
  });
  return objects.map(({ metadata }) => metadata.uid ?? '');
}

interface Measured {
  harness: Harness;
  cluster: ObservedCluster;
  groups: readonly BenchGroup[];
  /** UIDs of the deleted environments. */
  uids: ReadonlySet<string>;
  lasting: Target;
}

async function measure({ harness, cluster, groups, uids, lasting }: Measured): Promise<Left> {
  const { client } = cluster;
  const ofGroups = `${LABELS.group} in (${groups.map(({ name }) => name).join()})`;
  const environments = `${ofGroups},${LABELS.environment}`;
  const own = (await client.get(ENVIRONMENT, environmentAt(lasting))).metadata.uid ?? '';
  const namespaces = (await client.list(Namespace, { labelSelector: environments })).items.length;
  const objects = await countObjects(cluster, groups, ofGroups);
  const { images, bytes } = await collect(groups, Infinity);
  const [pod = ''] = await cluster.pods('coppice-operator');
  return {
    namespaces,
    objects,
    stored: await cluster.storedObjects(),
    lasting: await countLasting(cluster, own),
    ...(await inRedis(harness, uids)),
    images,
    imageMiB: bytes / 2 ** 20,
    cacheMiB: await cacheMiB(groups),
    operatorMiB: await liveMemoryMiB(harness.kubectl, pod, 'operator/main.ts'),
  };
}

/** Counts the objects that environments of these groups could leave behind. */
async function countObjects(
  { client }: ObservedCluster,
  groups: readonly BenchGroup[],
  labelSelector: string,
): Promise<number> {
  const kinds: ResourceType[] = [Secret, ConfigMap, Job, Pod, PersistentVolumeClaim, RoleBinding];
  const lists = kinds.flatMap((kind) => [
    ...groups.map(({ name }) => client.list(kind, { namespace: groupNamespace(name) })),
    client.list(kind, { namespace: BUILDER_NAMESPACE, labelSelector }),
  ]);
  return (await Promise.all(lists)).reduce((sum, { items }) => sum + items.length, 0);
}

/** Counts the objects of kinds of which each build makes some, and all Secrets of the environment. */
async function countLasting({ client }: ObservedCluster, uid: string): Promise<number> {
  const labelSelector = `${LABELS.environmentUid}=${uid}`;
  const kinds: ResourceType[] = [Secret, ConfigMap, Job, Pod, Service, Deployment];
  const lists = await Promise.all(kinds.map((kind) => client.list(kind, { labelSelector })));
  return lists.reduce((sum, { items }) => sum + items.length, 0);
}

type InRedis = Pick<Left, 'redis' | 'unlimited' | 'redisMiB'>;

async function inRedis({ kubectl }: Harness, uids: ReadonlySet<string>): Promise<InRedis> {
  const redis = async (command: string) => {
    const script = `REDISCLI_AUTH=$REDIS_PASSWORD valkey-cli ${command}`;
    return kubectl(['--namespace', 'coppice-system', 'exec', 'coppice-redis-0', '--', 'sh', '-c', script]);
  };
  const names = `${await redis('--scan')}\n${await redis('ZRANGE build-logs:ended 0 -1')}`.split('\n');
  const isOurs = (name: string) => [...uids].some((uid) => name.includes(uid));
  const [, keys = '0', expiring = '0'] = /keys=(\d+),expires=(\d+)/.exec(await redis('INFO keyspace')) ?? [];
  const [, used = '0'] = /used_memory:(\d+)/.exec(await redis('INFO memory')) ?? [];
  return {
    redis: names.filter(isOurs).length,
    unlimited: Number(keys) - Number(expiring),
    redisMiB: Number(used) / 2 ** 20,
  };
}

/** Returns the size of the volumes of the groups' caches on the node, whether or not their builders run. */
async function cacheMiB(groups: readonly BenchGroup[]): Promise<number> {
  const folders = groups.map(
    ({ name }) => `/var/local-path-provisioner/*_${BUILDER_NAMESPACE}_${groupBuilderName(name)}`,
  );
  const sizes = await run('docker', ['exec', NODE_CONTAINER, 'sh', '-c', `du -sk ${folders.join(' ')}`]);
  return sizes.split('\n').reduce((sum, line) => sum + Number(line.split('\t')[0]), 0) / 1024;
}

/** Runs housekeeping's task `images` for these groups only; returns what is left. */
async function collect(groups: readonly BenchGroup[], keepMs: number): Promise<StoredImages> {
  const local = readRegistry();
  if (!local) throw new Error('there is no .local/registry.json: start the cluster with `npm run up`');
  const { hostAddress: address, insecure, username, password } = local;
  const login = { credentials: () => ({ username, password }) };
  const send = createSend({ timeoutMs: 15_000 });
  let left: StoredImages = { images: Number.NaN, bytes: Number.NaN };
  const collector = new ImageCollector({
    registry: new RegistryClient({ address, insecure, login, send }),
    imageRegistry: { address, layout: 'nested' },
    groupNames: () => groups.map(({ name }) => name),
    // That of no installation: images of other groups are not touched.
    installation: () => Promise.resolve(''),
    environments: () => [],
    reusables: () => [],
    jobs: () => [],
    found: new FoundImages(),
    observe: (stored) => (left = stored),
    keepMs,
    now: () => new Date(),
    logger: silentLogger,
  });
  await collector.sweep();
  return left;
}

function figuresOf(year: readonly Left[], seconds: number): Figure[] {
  const [first, last] = [year[warmUp - 1], year.at(-1)];
  if (!first || !last) throw new Error('the year was too short');
  const lifetimes = (months - warmUp) * teams * perTeam;
  const each = (name: string, of: keyof Left, unit: string, target?: string): Figure => ({
    name: `left by each environment: ${name}`,
    unit,
    samples: [(last[of] - first[of]) / lifetimes],
    ...(target !== undefined && { target }),
  });
  return [
    { name: `${months} months of ${teams} teams, ${perTeam} environments each a month`, unit: 's', samples: [seconds] },
    each('namespaces', 'namespaces', '', '0'),
    each('objects in the namespaces of groups and builders', 'objects', '', '0'),
    each('objects stored in etcd, without Events and Leases', 'stored', '', '0'),
    each('names in Redis', 'redis', '', '0'),
    each('Redis keys without an expiry', 'unlimited', '', '0'),
    each('memory of Redis with the lasting one, until logs expire', 'redisMiB', 'MiB'),
    each("operator's memory with the lasting one, after a collection", 'operatorMiB', 'MiB'),
    each('images, until housekeeping', 'images', ''),
    each('layers of images, until housekeeping', 'imageMiB', 'MiB'),
    each("cache of the group's builder, up to builder.cache.size", 'cacheMiB', 'MiB'),
    {
      name: `objects of an environment with ${months} builds`,
      unit: '',
      samples: [last.lasting],
      baseline: { name: `with ${warmUp} builds`, samples: [first.lasting] },
      target: '≤ 1 ×',
    },
  ];
}

function collectedFigures(year: readonly Left[], left: StoredImages): Figure[] {
  const before = year.at(-1)?.images ?? Number.NaN;
  return [
    {
      name: 'images of the year after housekeeping',
      unit: '',
      samples: [left.images],
      baseline: { name: 'before', samples: [before] },
      target: '0',
    },
  ];
}
