import { loadavg } from 'node:os';
import { readConnection } from '../cluster/connection.ts';
import { requireThisImage } from '../cluster/install-coppice.ts';
import { kubectlOf } from '../cluster/kubectl.ts';
import { Problem } from '../cluster/problem.ts';
import { startProgress, type Progress } from '../cluster/progress.ts';
import { requireUndisturbed } from '../faults/disturb.ts';
import type { Figure } from './measure.ts';
import { figuresTable } from './measurements.ts';
import { currentCommit, isShown, keep, type Report } from './report.ts';

/** Of fewer there are not enough that could change, or be in one of several groups. */
const leastSize = 20;

/** Measures something on the cluster that is up; throws when what it looks for is not so. */
export type Part = (progress: Progress) => Promise<Figure[]>;

export interface Parts {
  /** Run when none is named. */
  all: ReadonlyMap<string, Part>;
  /** By a name that says how much is measured, such as `scale-1000`. */
  sized: ReadonlyMap<string, (size: number) => Part>;
  /** Those of all that need none. */
  withoutCluster?: readonly string[];
}

/** Runs the parts of these names, or all, those after one that fails too; keeps and prints the figures of each. Those of a size that no page shows are printed alone. */
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

/** Throws a Problem where the cluster runs something else than this checkout, or as a strike left it that was broken off. */
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
