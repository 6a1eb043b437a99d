import type { Figure } from '../bench/measure.ts';
import { withCleanUp } from '../cluster/clean-up.ts';
import type { Progress } from '../cluster/progress.ts';
import type { Harness } from '../end-to-end/harness.ts';
import { memoryIsBack, memoryNow } from './memory.ts';

/**
 * Does the work, and removes the harness's groups with all that is in them, whatever becomes of it; then the memory of
 * operator and API must be back to where it was. Adds its figures.
 */
export async function nothingLeft(
  harness: Harness,
  progress: Progress,
  work: () => Promise<Figure[]>,
): Promise<Figure[]> {
  const { kubectl } = harness;
  const measured = async () => ({ before: await memoryNow(kubectl), figures: await work() });
  const cleanUp = () => progress.step('clean up', () => harness.removeAndWait());
  const { before, figures } = await withCleanUp(measured, cleanUp);
  return [...figures, ...(await progress.step('memory is back', () => memoryIsBack(kubectl, before)))];
}
