import { LABELS } from '../../crds/labels.ts';
import { withCleanUp } from '../support/clean-up.ts';
import type { Progress } from '../support/progress.ts';
import { waitFor } from '../support/wait-for.ts';
import { randomName, startHarness, type Harness } from '../end-to-end/harness.ts';
import type { Figure } from './measure.ts';
import { startRawCluster, type RawCluster } from './raw-cluster.ts';

/** Returns the web address of a host that the Ingress controller serves. */
export function addressOf({ connection }: Harness, host: string): string {
  const { port } = new URL(connection.ingressUrl);
  return `http://${host}${port === '' ? '' : `:${port}`}/`;
}

/** Measures with a separate user, and with a cluster for the baseline script; deletes both afterwards. */
export async function withBaseline(
  progress: Progress,
  measure: (bench: { harness: Harness; raw: RawCluster }) => Promise<Figure[]>,
): Promise<Figure[]> {
  const harness = await startHarness('bench');
  const namespace = randomName('bench');
  const work = async () => {
    const raw = await progress.step('a buildkitd for the baseline', () => startRawCluster(harness, namespace));
    return measure({ harness, raw });
  };
  return withCleanUp(work, () => progress.step('clean up', () => removeAll(harness, namespace)));
}

/** Deletes the harness's groups and the namespaces whose names start with `prefix`, and waits until they are gone. */
export async function removeAll(harness: Harness, prefix: string): Promise<void> {
  const named = async (...what: string[]) =>
    (await harness.kubectl(['get', ...what, '--output', 'name'])).split('\n').filter((name) => name !== '');
  const baselines = async () => (await named('namespaces')).filter((name) => name.startsWith(`namespace/${prefix}`));
  const groups = await harness.groups();
  const mine = await baselines();
  if (mine.length > 0) await harness.kubectl(['delete', '--wait=false', ...mine]);
  await harness.remove();
  await waitFor('all of it to be gone', 1800, async () => {
    const ofGroups = await named('namespaces', '--selector', `${LABELS.group} in (${groups.join()})`);
    const objects = await named('groups.coppice.dev', ...groups, '--ignore-not-found');
    return [...ofGroups, ...objects, ...(await baselines())].length === 0 ? true : undefined;
  });
}
