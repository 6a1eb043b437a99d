import type { Progress } from '../support/progress.ts';
import { waitFor } from '../support/wait-for.ts';
import { randomName, type Harness } from '../end-to-end/harness.ts';
import type { Browser, Outage } from './browser.ts';
import { addEmptyEnvironments } from './empty-environments.ts';
import type { Bench } from './held.ts';
import { percentile, type Figure } from './measure.ts';
import { measureAll, MEASURES, readByRest, type Reads, type Taken } from './read-rounds.ts';
import { addBrowsers, changeFigures, cpuSecondsOf, measureChanges, withOpen } from './streams.ts';
import { withBench } from './with-bench.ts';

/** 10,000 environments have 1,000 browsers. */
const environmentsPerBrowser = 10;
/** Number of requests of each round, for each path. */
const requests = 100;
/** Within this time all browsers must have become current again. */
const againSeconds = 120;

/** What became of all browsers that had lost their connections. */
interface Reconnection {
  outages: Outage[];
  /** CPU time of the API meanwhile, or since the start of its replicas. */
  cpuSeconds: number;
}

/**
 * Returns a part with this many environments in ten groups, and a tenth as many browsers, whose users are members of all
 * groups: measures changes, the panel's lists, and how all browsers become current again after they have lost their
 * connections.
 */
export function benchStreamsAt(environments: number) {
  return (progress: Progress): Promise<Figure[]> =>
    withBench(progress, randomName('none'), async (bench) => {
      const { harness } = bench;
      const { groups, own, others, size, create } = await addEmptyEnvironments(bench, harness, environments);
      const targets = [...own, ...others];
      const label = `${environments.toLocaleString('en')} environments`;
      await progress.step(label, () => create(targets));
      const large = groups[1] ?? '';
      const pages = [groupPaths(), repositoryPaths(large)];
      const count = Math.ceil(environments / environmentsPerBrowser);
      const browsers = await progress.step('users', () =>
        addBrowsers(bench, count, groups, (index) => pages[index % pages.length] ?? []),
      );
      const reads = listReads(harness, large);
      const alone = await progress.step('lists without streams', () => measureAll(reads, requests));
      return withOpen(bench, browsers, async (before) => {
        const { idle, busy } = await measureChanges(bench, browsers, targets);
        const beside = await progress.step('lists', () => measureAll(reads, requests));
        const cut = await progress.step('all connections cut', () => reconnectAll(bench, browsers));
        const restarted = await progress.step('all API replicas restarted', () => restartAll(bench, browsers));
        return [
          ...changeFigures(label, before, idle, busy),
          ...listFigures(label, size, alone, beside),
          ...reconnectionFigures(`${label}: all connections cut`, cut),
          ...reconnectionFigures(`${label}: all API replicas replaced`, restarted),
        ];
      });
    });
}

/** What the panel's page of a group reads. */
function groupPaths(): string[] {
  return ['/api/groups', '/api/overview?limit=100'];
}

/** What the panel's page of a repository reads. */
function repositoryPaths(group: string): string[] {
  const repository = `/api/repository/${group}.app`;
  return ['/api/groups', `${repository}?environments=false`, `${repository}/environments?limit=50`];
}

function listReads({ client }: Harness, group: string): Reads {
  const paths = [...new Set([...groupPaths(), ...repositoryPaths(group)])];
  return new Map(paths.map((path) => [path.replace(`${group}.app`, '{id}'), readByRest(client, path)]));
}

function listFigures(
  label: string,
  size: number,
  alone: ReadonlyMap<string, Taken[]>,
  beside: ReadonlyMap<string, Taken[]>,
): Figure[] {
  const samples = (taken: ReadonlyMap<string, Taken[]>, name: string, of: keyof Taken) =>
    (taken.get(name) ?? []).map((one) => one[of]);
  return [...beside.keys()].flatMap((name) => {
    const ofSize = name.includes('{id}') ? `, of ${size.toLocaleString('en')} environments` : '';
    return MEASURES.map(({ of, unit, words }): Figure => ({
      name: `${label}: GET ${name}${ofSize}${words}`,
      unit,
      samples: samples(beside, name, of),
      baseline: { name: 'without streams', samples: samples(alone, name, of) },
    }));
  });
}

/** Breaks all connections at once. */
async function reconnectAll({ cluster }: Bench, browsers: readonly Browser[]): Promise<Reconnection> {
  const before = cpuSecondsOf(await cluster.usage('coppice-api'));
  const outages = await outagesDuring(browsers, () => {
    for (const browser of browsers) browser.cut();
    return Promise.resolve();
  });
  return { outages, cpuSeconds: cpuSecondsOf(await cluster.usage('coppice-api')) - before };
}

/** Ends all API replicas at once: their browsers reconnect to new ones, which do not know what each has missed. */
async function restartAll({ cluster }: Bench, browsers: readonly Browser[]): Promise<Reconnection> {
  const former = await cluster.pods('coppice-api');
  const outages = await outagesDuring(browsers, async () => {
    await Promise.all(former.map((pod) => cluster.endPod(pod)));
    await waitFor('other API replicas', againSeconds, async () => {
      const left = await Promise.all(former.map((pod) => cluster.hasPod(pod)));
      const ready = await cluster.readyPods('coppice-api');
      return left.includes(true) || ready.length < former.length ? undefined : true;
    });
  });
  // The counters of the new processes start at 0.
  return { outages, cpuSeconds: cpuSecondsOf(await cluster.usage('coppice-api')) };
}

/** Returns what happened to the browsers from the start of the work until it has ended and all are current. */
async function outagesDuring(browsers: readonly Browser[], work: () => Promise<void>): Promise<Outage[]> {
  for (const { outages } of browsers) outages.length = 0;
  await work();
  await waitFor('all browsers to be current', againSeconds, async () => {
    const current = browsers.filter(({ isCurrent }) => isCurrent).length;
    if (current < browsers.length) throw new Error(`${current} of ${browsers.length} are`);
    return Promise.resolve(true);
  });
  return browsers.flatMap(({ outages }) => outages);
}

function reconnectionFigures(label: string, { outages, cpuSeconds }: Reconnection): Figure[] {
  const times = outages.map(({ from, to }) => to - from);
  const first = Math.min(...outages.map(({ from }) => from));
  const last = Math.max(...outages.map(({ to }) => to));
  const lost = (share: number): Figure => ({
    name: `${label}: connection lost → page current, p${100 * share}`,
    unit: 'ms',
    samples: [percentile(times, share)],
  });
  const reloads = outages.filter(({ isReload }) => isReload).length;
  return [
    lost(0.5),
    lost(0.95),
    { name: `${label}: first connection lost → all pages current`, unit: 's', samples: [(last - first) / 1000] },
    { name: `${label}: pages read again`, unit: '', samples: [reloads] },
    { name: `${label}: API CPU, all replicas`, unit: 's', samples: [cpuSeconds] },
  ];
}
