import { z } from 'zod';
import { Problem } from '../support/problem.ts';
import type { Figure } from '../bench/measure.ts';
import { waitFor } from '../support/wait-for.ts';
import type { Harness } from '../end-to-end/harness.ts';

type Kubectl = Harness['kubectl'];

/** An increase of more MiB than this is a leak. Node returns only a part of a grown heap, and only when it is idle. */
const toleranceMiB = { operator: 64, api: 64, Redis: 16 };
type Part = keyof typeof toleranceMiB;
/** Time to return memory, in seconds. */
const timeoutSeconds = 90;

const parts = Object.keys(toleranceMiB) as Part[];
const inSystem = ['--namespace', 'coppice-system'];
const podsSchema = z.object({
  items: z.array(z.object({ metadata: z.object({ name: z.string(), deletionTimestamp: z.string().optional() }) })),
});

/** Resident memory of each part in MiB: of its replica with the most. */
export type Memory = ReadonlyMap<Part, number>;

export async function memoryNow(kubectl: Kubectl): Promise<Memory> {
  return new Map(await Promise.all(parts.map(async (part) => [part, await memoryOf(kubectl, part)] as const)));
}

/** Waits until each part uses as little memory as before. Returns both values. */
export async function memoryIsBack(kubectl: Kubectl, before: Memory): Promise<Figure[]> {
  const holds = async () => {
    const after = await memoryNow(kubectl);
    for (const [part, held] of after) {
      const former = before.get(part) ?? 0;
      if (held > former + toleranceMiB[part])
        throw new Problem(`the ${part} holds ${held.toFixed(0)} MiB, and held ${former.toFixed(0)} before`);
    }
    return after;
  };
  const after = await waitFor('memory to be back to where it was', timeoutSeconds, holds);
  return [...after].map(([part, held]) => ({
    name: `${part} memory after cleanup`,
    unit: 'MiB',
    samples: [held],
    baseline: { name: 'before', samples: [before.get(part) ?? 0] },
    target: `at most ${toleranceMiB[part]} MiB more`,
  }));
}

async function memoryOf(kubectl: Kubectl, part: Part): Promise<number> {
  if (part === 'Redis') return waitFor('the memory of Redis', 60, () => redisMemory(kubectl));
  // A pod that is starting or terminating may not respond.
  return waitFor(`the memory of the ${part}`, 60, async () => {
    const selector = `app.kubernetes.io/name=coppice-${part}`;
    const json = await kubectl([...inSystem, 'get', 'pods', '--selector', selector, '--output', 'json']);
    const pods = podsSchema.parse(JSON.parse(json)).items.filter((pod) => pod.metadata.deletionTimestamp === undefined);
    const held = pods.map(async ({ metadata: { name } }) => {
      const path = `/api/v1/namespaces/coppice-system/pods/${name}:3001/proxy/metrics`;
      const metrics = await kubectl(['get', '--raw', path]);
      return Number(/^process_resident_memory_bytes (\S+)/m.exec(metrics)?.[1]) / 2 ** 20;
    });
    const max = Math.max(...(await Promise.all(held)));
    // Without a pod or the metric, the value is unknown.
    return Number.isFinite(max) ? max : undefined;
  });
}

/** Returns Redis' memory: it is the first process of its container, and exports no metrics. */
async function redisMemory(kubectl: Kubectl): Promise<number | undefined> {
  const status = await kubectl([...inSystem, 'exec', 'coppice-redis-0', '--', 'cat', '/proc/1/status']);
  const kibibytes = /^Name:\tvalkey-server$[^]*^VmRSS:\s+(\d+) kB/m.exec(status)?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) / 1024;
}
