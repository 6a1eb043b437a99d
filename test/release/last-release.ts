import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { deliverImage } from '../cluster/images/app-image.ts';
import { REPOSITORY_ROOT } from '../support/paths.ts';
import { Problem } from '../support/problem.ts';
import type { Progress } from '../support/progress.ts';
import type { Registry } from '../cluster/registries/registry.ts';
import { run, tryRun } from '../support/run.ts';

const folder = join(import.meta.dirname, 'last');

/** The last release: its chart is in this repository, and its image is built from its commit. */
export const LAST_RELEASE = z
  .strictObject({ version: z.string(), commit: z.string().regex(/^[0-9a-f]{40}$/) })
  .parse(JSON.parse(readFileSync(join(folder, 'release.json'), 'utf8')));

export const LAST_CHART = join(folder, `coppice-${LAST_RELEASE.version}.tgz`);

/** Unpacks the chart of the last release to a folder, and returns the chart's folder. */
export async function unpackLastChart(to: string): Promise<string> {
  await run('tar', ['--extract', '--gzip', '--file', LAST_CHART, '--directory', to]);
  return join(to, 'coppice');
}

/** Builds the image of the last release if it is missing, pushes it to the registry, and returns its name there. */
export async function deliverLastImage(registry: Registry, progress: Progress): Promise<string> {
  const { commit } = LAST_RELEASE;
  if ((await tryRun('git', ['cat-file', '-e', commit], { cwd: REPOSITORY_ROOT })) === undefined) {
    throw new Problem(`The commit of the last release, ${commit}, is missing: run git fetch --unshallow.`);
  }
  const scratch = mkdtempSync(join(tmpdir(), 'last-release-'));
  try {
    const context = join(scratch, 'source');
    mkdirSync(context);
    const archive = join(scratch, 'source.tar');
    await run('git', ['archive', '--format=tar', `--output=${archive}`, commit], { cwd: REPOSITORY_ROOT });
    await run('tar', ['--extract', '--file', archive, '--directory', context]);
    const source = { name: 'coppice-last-release', context, dockerfile: join(context, 'Dockerfile') };
    return await deliverImage(source, { registry, isMirror: false }, progress);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
