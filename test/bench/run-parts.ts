import { loadavg } from 'node:os';
import { readConnection } from '../cluster/connection.ts';
import { requireThisImage } from '../cluster/install-coppice.ts';
import { kubectlOf } from '../cluster/kubectl.ts';
import { Problem } from '../support/problem.ts';
import { startProgress, type Progress } from '../support/progress.ts';
import { requireUndisturbed } from '../faults/disturb.ts';
import type { Figure } from './measure.ts';
import { figuresTable } from './measurements.ts';
import { currentCommit, isShown, keep, type Report } from './report.ts';

/** Fewer environments are not enough to change some and distribute them over groups. */
const leastSize = 20;

/** Measures something on the running cluster; throws if a precondition does not hold. */
export type Part = (progress: Progress) => Promise<Figure[]>;

export interface Parts {
  /** Runs if no part is named. */
  all: ReadonlyMap<string, Part>;
  /** Parts by names that contain a size, such as `scale-1000`. */
  sized: ReadonlyMap<string, (size: number) => Part>;
  /** Names of parts that need no cluster. */
  withoutCluster?: readonly string[];
}

/**
 * Runs the named parts, or all, and continues after a failure; stores and prints the figures of each. Figures of sizes
 * that no page shows are only printed.
 */
export async function runParts(options: Parts, names: readonly string[], report: Report): Promise<void> {
  const chosen = names.length === 0 ? [...options.all] : names.map((name) => [name, partOf(options, name)] as const);
  const commit = currentCommit();
  const progress = startProgress();
  const failed: string[] = [];
  for (const [name, part] of chosen) {
    const [load = Number.NaN] = loadavg();
    const measured = async () => {
      if (!options.withoutCluster?.includes(name)) await requireOurs();
      return part(progress);
    };
    const figures = await measured().catch((error: unknown) => {
      console.error(`\n${name}, commit ${commit}:`, error instanceof Problem ? error.message : error);
      failed.push(name);
    });
    if (figures === undefined) continue;
    if (isShown(report, name)) await keep(report, name, figures, { commit, date: new Date(), load });
    console.log(`\n${name}, commit ${commit}, load average before ${load.toFixed(1)}\n\n${figuresTable(figures)}\n`);
  }
  if (failed.length > 0)
    throw new Problem(`${failed.join(', ')} failed; what is kept of them is of the last run that did not.`);
}

/** Throws a Problem if the cluster does not run this checkout, or an interrupted fault has left it disturbed. */
async function requireOurs(): Promise<void> {
  const kubectl = kubectlOf(readConnection());
  await requireThisImage(kubectl);
  await requireUndisturbed(kubectl);
}

function partOf({ all, sized }: Parts, name: string): Part {
  const [, kind = '', size = ''] = /^(.+)-(\d+)$/.exec(name) ?? [];
  const ofSize = sized.get(kind);
  if (ofSize && Number(size) < leastSize) throw new Problem(`${name} is too few to measure: at least ${leastSize}.`);
  const part = all.get(name) ?? ofSize?.(Number(size));
  if (part) return part;
  const known = [...all.keys(), ...[...sized.keys()].map((one) => `${one}-NUMBER`)];
  throw new Problem(`There is no part ${name}: there are ${known.join(', ')}.`);
}
