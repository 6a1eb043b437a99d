import type { Figure } from '../bench/measure.ts';
import { withCleanUp } from '../cluster/clean-up.ts';
import type { Progress } from '../cluster/progress.ts';
import type { Harness } from '../end-to-end/harness.ts';
import { waitFor } from '../cluster/wait-for.ts';
import { memoryIsBack, memoryNow } from './memory.ts';

/** What may be left of a group, in any namespace: its own, its environments', and that of the builders. */
const kinds = 'namespaces,pods,jobs,secrets,configmaps,services,persistentvolumeclaims,deployments,rolebindings';

/**
 * Does the work, and removes the harness's groups with all that is in them, whatever becomes of it; then nothing may be
 * left of the first, and the memory of
 * operator and API must be back to where it was. Adds its figures.
 */
export async function nothingLeft(
  harness: Harness,
  progress: Progress,
  work: () => Promise<Figure[]>,
): Promise<Figure[]> {
  const { kubectl } = harness;
  const measured = async () => ({ before: await memoryNow(kubectl), figures: await work() });
  const cleanUp = () =>
    progress.step('clean up', async () => {
      await harness.removeAndWait();
      await requireNone(harness);
    });
  const { before, figures } = await withCleanUp(measured, cleanUp);
  return [...figures, ...(await progress.step('memory is back', () => memoryIsBack(kubectl, before)))];
}

/** Volumes go by their provisioner, a while after their claims. */
async function requireNone({ group, kubectl }: Harness): Promise<void> {
  await waitFor('all that had the group on its label to be gone', 120, async () => {
    const labelled = ['--all-namespaces', '--selector', `coppice.dev/group=${group}`, '--output', 'name'];
    const named = await kubectl(['get', kinds, ...labelled]);
    const claims = await kubectl([
      'get',
      'persistentvolumes',
      '--output',
      'jsonpath={.items[*].spec.claimRef.namespace}',
    ]);
    const volumes = claims.split(' ').filter((namespace) => namespace.endsWith(`--${group}`));
    const left = [...named.split('\n').filter(Boolean), ...volumes.map((namespace) => `a volume of ${namespace}`)];
    if (left.length > 0) throw new Error(`still there: ${left.join(', ')}`);
    return true;
  });
}
