import { setTimeout as sleep } from 'node:timers/promises';
import { withCleanUp } from '../support/clean-up.ts';
import { Problem } from '../support/problem.ts';
import type { Progress } from '../support/progress.ts';
import { resetValues, setValues } from '../cluster/set-values.ts';
import { randomName, startHarness, type Harness } from '../end-to-end/harness.ts';
import { atOnce } from './at-once.ts';
import { removeAll } from './bench-cluster.ts';
import { EnvironmentWatch } from './environment-watch.ts';
import { startGroupWork, type GroupWork, type WorkTimes } from './group-work.ts';
import { percentile, type Figure } from './measure.ts';
import { Misbehaviour } from './misbehaviour.ts';
import { ObservedCluster } from './observed-cluster.ts';
import { pushCommits } from './push-commits.ts';

const groupCount = 20;
const phaseSeconds = 140;
/** The first spawns of a phase, while the groups and the misbehaviour start. */
const warmUpSeconds = 20;
/** Each group does one round of work in this time, unless it takes longer. At 30 s, the groups alone use two processors. */
const roundSeconds = 60;

/** The chart's defaults of limits that the local cluster raises for its tests. */
const defaultLimits = {
  'environments.maxPerGroup': 200,
  'operator.limits.writtenMiBPerMinute': 16,
  'operator.limits.writtenMiBPerHour': 256,
  'api.requestsPerMinute': 1200,
  'api.limits.writtenMiBPerMinute': 4,
  'api.limits.writtenMiBPerHour': 64,
};

const services = `services:
  web: { image: 'node:24-slim', scale: 0, ports: ['8080'] }
  api: { image: 'node:24-slim', scale: 0, expose: ['8080'] }
`;

/**
 * Measures groups of different accounts that spawn, rebuild, delete, read and follow logs: first all but one, then beside
 * one that misbehaves in every way that the limits allow, finally with a service that writes logs without end.
 */
export async function benchManyGroups(progress: Progress): Promise<Figure[]> {
  const harnesses: Harness[] = [];
  const start = async () => void harnesses.push(await startHarness('bench'));
  await progress.step(`${groupCount} accounts with a group each`, () =>
    atOnce(4, Array.from({ length: groupCount }), start),
  );
  const [noisy, ...others] = harnesses;
  if (!noisy) throw new Error('there is no group');
  const cluster = new ObservedCluster(noisy.connection.kubeconfig);
  const watch = new EnvironmentWatch(cluster.client);
  const { kubeconfig } = noisy.connection;
  const work = async () => {
    await progress.step('the default limits', () => setValues(kubeconfig, defaultLimits));
    await watch.start();
    const repositories = await progress.step('repositories', () => addRepositories(others));
    const phase = (label: string) =>
      progress.step(label, async () => {
        const startMs = roundSeconds * 1000;
        const groups = others.map((harness, index) =>
          startGroupWork({
            harness,
            watch,
            repository: repositories.get(harness) ?? '',
            firstAfterMs: (startMs / others.length) * index,
            roundMs: startMs,
            countsFrom: performance.now() + warmUpSeconds * 1000,
          }),
        );
        await sleep(phaseSeconds * 1000);
        return timesOf(groups);
      });
    const alone = await phase(`${others.length} groups alone`);
    const misbehaviour = await progress.step('prepare the misbehaviour', () => Misbehaviour.start(noisy));
    const besides = async () => {
      const beside = await phase(`${others.length} groups beside one that misbehaves`);
      await progress.step('a service that writes logs without end', () => misbehaviour.flood());
      return [beside, await phase(`${others.length} groups beside that service too`)] as const;
    };
    const [beside, flooded] = await withCleanUp(besides, () => misbehaviour.stop());
    for (const failure of [alone, beside, flooded].flatMap(({ failures }) => failures))
      console.error('failed:', failure);
    return [
      ...figuresOf(alone, beside),
      ...figuresOf(alone, flooded).map((figure) => ({ ...figure, name: `beside endless logs: ${figure.name}` })),
      ...[...misbehaviour.counts()].map(([name, count]): Figure => ({
        name: `misbehaviour: ${name}`,
        unit: '',
        samples: [count],
      })),
    ];
  };
  return withCleanUp(work, () =>
    progress.step('clean up', async () => {
      await watch.stop();
      cluster.close();
      await atOnce(8, harnesses, (harness) => removeAll(harness, randomName('none')));
      await resetValues(kubeconfig);
    }),
  );
}

async function addRepositories(harnesses: readonly Harness[]): Promise<Map<Harness, string>> {
  const repositories = new Map<Harness, string>();
  await atOnce(4, harnesses, async (harness) => {
    const origin = `${harness.connection.gitUrl}/${harness.group}/app.git`;
    await pushCommits(origin, ['main'], 'compose.yaml', services);
    repositories.set(harness, await harness.addRepository('app', origin));
  });
  return repositories;
}

async function timesOf(groups: readonly GroupWork[]): Promise<WorkTimes> {
  const all = await Promise.all(groups.map((group) => group.stop()));
  return {
    created: all.flatMap(({ created }) => created),
    built: all.flatMap(({ built }) => built),
    reads: all.flatMap(({ reads }) => reads),
    rounds: all.reduce((sum, { rounds }) => sum + rounds, 0),
    failures: all.flatMap(({ failures }) => failures),
  };
}

function figuresOf(alone: WorkTimes, beside: WorkTimes): Figure[] {
  if ([alone, beside].some(({ created, built }) => created.length === 0 || built.length === 0))
    throw new Problem('No group spawned an environment while durations were recorded.');
  const figure = (name: string, key: 'created' | 'built' | 'reads', share: number): Figure => ({
    name: `${name}, p${share * 100}`,
    unit: 'ms',
    samples: [percentile(beside[key], share)],
    baseline: { name: 'without the one that misbehaves', samples: [percentile(alone[key], share)] },
    target: '≤ 2 ×',
  });
  return [
    ...[0.5, 0.95].map((share) => figure('spawn → created', 'created', share)),
    ...[0.5, 0.95].map((share) => figure('spawn → built', 'built', share)),
    ...[0.5, 0.95].map((share) => figure('GET', 'reads', share)),
    {
      name: 'rounds of work',
      unit: '',
      samples: [beside.rounds],
      baseline: { name: 'without the one that misbehaves', samples: [alone.rounds] },
    },
    { name: 'failed rounds and reads', unit: '', samples: [beside.failures.length], target: '0' },
  ];
}
