import { LABELS } from '../../crds/labels.ts';
import type { Figure } from '../bench/measure.ts';
import { withCleanUp } from '../support/clean-up.ts';
import type { Progress } from '../support/progress.ts';
import { waitFor } from '../support/wait-for.ts';
import type { Harness } from '../end-to-end/harness.ts';
import { memoryIsBack, memoryNow } from './memory.ts';

/** Kinds of objects of a group that could be left in any namespace: its own, its environments', and the builders'. */
const kinds = [
  ...['namespaces', 'pods', 'jobs', 'secrets', 'configmaps', 'services', 'persistentvolumeclaims', 'deployments'],
  ...['rolebindings', 'networkpolicies', 'ingresses', 'resourcequotas', 'limitranges'],
].join();

/**
 * Does the work, then deletes the harness's groups with everything in them in any case. Nothing of them may be left,
 * and the memory of the operator, the API and Redis must have returned to its previous value. Adds its figures.
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
      const groups = await harness.groups();
      await harness.removeAndWait();
      await requireNone(harness, groups);
    });
  const { before, figures } = await withCleanUp(measured, cleanUp);
  return [...figures, ...(await progress.step('memory is back', () => memoryIsBack(kubectl, before)))];
}

/** Volumes are deleted by their provisioner some time after their claims. */
async function requireNone({ kubectl }: Harness, groups: readonly string[]): Promise<void> {
  await waitFor("all that had the groups' label to be gone", 120, async () => {
    const labelled = ['--all-namespaces', '--selector', `${LABELS.group} in (${groups.join()})`, '--output', 'name'];
    const named = await kubectl(['get', kinds, ...labelled]);
    const claim = 'jsonpath={range .items[*]}{.spec.claimRef.namespace}/{.spec.claimRef.name}{"\\n"}{end}';
    const claims = (await kubectl(['get', 'persistentvolumes', '--output', claim])).split('\n');
    // Claims of an environment, of published volumes, or of a builder's cache.
    const volumes = claims.filter((one) => groups.some((group) => one.includes(group)));
    const own = (
      await kubectl(['get', 'groups.coppice.dev', ...groups, '--ignore-not-found', '--output', 'name'])
    ).split('\n');
    const left = [...[...named.split('\n'), ...own].filter(Boolean), ...volumes.map((one) => `a volume of ${one}`)];
    if (left.length > 0) throw new Error(`still there: ${left.join(', ')}`);
    return true;
  });
}
