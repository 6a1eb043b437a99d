import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { registriesAreReached } from '../images/base-images.ts';
import { type DownloadedTool, downloadPath, downloadTool } from './downloaded-tools.ts';
import { CACHE_FOLDER } from '../../support/paths.ts';
import { messageOf } from '../../support/problem.ts';
import { buildPrograms, isBuilt, linkProgram, programPath } from '../go/programs.ts';
import type { Progress } from '../../support/progress.ts';
import { tryRun } from '../../support/run.ts';
import { VERSIONS } from '../versions.ts';

/** Where the three command line tools are: on the PATH, or in the cache folder. */
export interface CommandLineTools {
  kind: string;
  kubectl: string;
  helm: string;
}

const minorOf = (version: string): number => Number(/v?1\.(\d+)/.exec(version)?.[1]);

/** Returns whether kubectl is within one minor version of the API server, as its version skew policy requires. */
function kubectlFits(output: string): boolean {
  const client = /"gitVersion": *"v1\.(\d+)/.exec(output)?.[1];
  return client !== undefined && Math.abs(Number(client) - minorOf(VERSIONS.kubernetes)) <= 1;
}

const onPath: Record<keyof CommandLineTools, { version: string[]; fits: (output: string) => boolean }> = {
  kind: { version: ['version', '-q'], fits: (output) => output.trim().replace(/^v?/, 'v') === VERSIONS.kind },
  kubectl: { version: ['version', '--client', '-o', 'json'], fits: kubectlFits },
  helm: {
    version: ['version', '--template', '{{.Version}}'],
    fits: (output) => /^v(3\.(1[4-9]|[2-9]\d)|4)\b/.test(output),
  },
};

const names: readonly DownloadedTool[] = ['kind', 'kubectl', 'helm'];
const downloadsFolder = join(CACHE_FOLDER, 'downloads');

/** Returns which of kind, kubectl and helm are missing from the PATH in a suitable version. */
export async function missingCommandLineTools(): Promise<DownloadedTool[]> {
  const fitting = await Promise.all(
    names.map(async (name) => {
      const output = await tryRun(name, onPath[name].version);
      return output !== undefined && onPath[name].fits(output);
    }),
  );
  return names.filter((_name, index) => fitting[index] !== true);
}

/**
 * Finds kind, kubectl and helm in a suitable version on the PATH or in the cache folder. Missing ones are downloaded
 * from their publishers if an image registry can be reached, otherwise compiled.
 */
export async function findCommandLineTools(progress: Progress): Promise<CommandLineTools> {
  const missing = await missingCommandLineTools();
  const unbuilt = missing.filter((name) => !isBuilt(name));
  const downloaded = new Set(unbuilt.filter((name) => existsSync(downloadPath(name, downloadsFolder))));
  for (const name of downloaded) linkProgram(name, downloadPath(name, downloadsFolder));
  const absent = unbuilt.filter((name) => !downloaded.has(name));
  if (absent.length > 0 && (await registriesAreReached())) {
    for (const name of await downloadAll(absent, progress)) downloaded.add(name);
  }
  await buildPrograms(
    missing.filter((name) => !downloaded.has(name)),
    progress,
  );
  const find = (name: DownloadedTool) => (missing.includes(name) ? programPath(name) : name);
  return { kind: find('kind'), kubectl: find('kubectl'), helm: find('helm') };
}

/**
 * Downloads tools into the cache folder. Returns the downloaded ones, because a publisher may be unreachable even if a
 * registry is reachable.
 */
async function downloadAll(tools: readonly DownloadedTool[], progress: Progress): Promise<DownloadedTool[]> {
  const downloaded: DownloadedTool[] = [];
  await progress.step(`download ${tools.join(', ')}`, async (detail) => {
    for (const tool of tools) {
      try {
        const get = (url: string) => fetch(url, { signal: AbortSignal.timeout(120_000) });
        linkProgram(tool, await downloadTool(tool, downloadsFolder, get));
        downloaded.push(tool);
      } catch (error) {
        detail(messageOf(error));
        console.warn(`${tool} cannot be downloaded and is compiled: ${messageOf(error)}`);
      }
    }
  });
  return downloaded;
}
