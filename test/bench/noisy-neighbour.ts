import { withCleanUp } from '../cluster/clean-up.ts';
import type { Progress } from '../cluster/progress.ts';
import { startHarness, type Harness } from '../end-to-end/harness.ts';
import type { Figure } from './measure.ts';
import { ObservedCluster } from './observed-cluster.ts';

const connections = 40;
const spawns = 12;

/**
 * Measures spawns of one group, alone and while another account changes one environment over 40 connections. The
 * requests are not throttled: as many succeed as the limit per minute permits, and others get 429.
 */
export async function benchNoisyNeighbour(progress: Progress): Promise<Figure[]> {
  const quiet = await startHarness('bench');
  const noisy = await startHarness('bench');
  const cluster = new ObservedCluster(quiet.connection.kubeconfig);
  const alone: number[] = [];
  const beside: number[] = [];
  const counts = { patches: 0, transactions: 0, taken: 0, refused: 0 };
  const work = async () => {
    const repository = await quiet.addRepository('shop', await quiet.push('shop', 'main'));
    const target = await noisy.spawn(await noisy.addRepository('shop', await noisy.push('shop', 'main')), 'main', {
      build: false,
    });
    await progress.step('spawn alone', async () => alone.push(...(await spawnTimes(quiet, repository))));
    const before = await stored(cluster);
    await progress.step('spawn beside the noise', async () => {
      const noise = makeNoise(noisy, target);
      try {
        beside.push(...(await spawnTimes(quiet, repository)));
      } finally {
        Object.assign(counts, await noise.stop());
      }
    });
    const after = await stored(cluster);
    counts.patches = after.patches - before.patches;
    counts.transactions = after.transactions - before.transactions;
  };
  await withCleanUp(work, () =>
    progress.step('clean up', async () => {
      cluster.close();
      await Promise.all([quiet.removeAndWait(), noisy.removeAndWait()]);
    }),
  );
  return [
    {
      name: `spawn beside ${connections} connections of another account that change one environment`,
      unit: 'ms',
      samples: beside,
      baseline: { name: 'alone', samples: alone },
      target: '≤ 2 ×',
    },
    { name: 'requests of the noise that were accepted', unit: '', samples: [counts.taken] },
    { name: 'requests of the noise that were refused with 429', unit: '', samples: [counts.refused] },
    { name: 'PATCHes of Environments meanwhile', unit: '', samples: [counts.patches] },
    { name: 'etcd requests about Environments meanwhile', unit: '', samples: [counts.transactions] },
  ];
}

/** Returns the milliseconds of each of several sequential spawns. */
async function spawnTimes(harness: Harness, repository: string): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < spawns; index++) {
    const start = performance.now();
    await harness.spawn(repository, 'main', { build: false });
    times.push(performance.now() - start);
  }
  return times;
}

function makeNoise({ client }: Harness, environment: string) {
  const path = `/api/environment/${environment}`;
  const requests = [
    ['POST', `${path}/build`],
    ['POST', `${path}/rebuild`],
    ['PUT', path],
    ['DELETE', path],
  ] as const;
  const answers = new Map<number, number>();
  let isOver = false;
  const work = async (connection: number) => {
    for (let index = connection; !isOver; index++) {
      const [method, address] = requests[index % requests.length] ?? requests[0];
      const { status } = await client.send(method, address);
      answers.set(status, (answers.get(status) ?? 0) + 1);
    }
  };
  const all = Promise.all(Array.from({ length: connections }, (_, index) => work(index)));
  return {
    async stop(): Promise<{ taken: number; refused: number }> {
      isOver = true;
      await all;
      return { taken: answers.get(202) ?? 0, refused: answers.get(429) ?? 0 };
    },
  };
}

async function stored(cluster: ObservedCluster): Promise<{ patches: number; transactions: number }> {
  const [writes, transactions] = await Promise.all([cluster.writes(), cluster.etcdRequests('environments')]);
  return { patches: writes.get('environments') ?? 0, transactions };
}
