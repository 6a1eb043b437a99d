import { cpSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { CACHE_FOLDER } from '../../support/paths.ts';
import { layOutPruned, PRUNED_MODULES } from './pruned-modules.ts';
import { run } from '../../support/run.ts';

/** Folder of our go.mod and programs. */
export const GO_MODULE = join(import.meta.dirname, 'go-module');

/** Returns the folder of a program with a go.mod of its own. */
export const moduleFolder = (name: string): string => join(import.meta.dirname, 'go-modules', name);

const requirementsSchema = z.object({
  Require: z.array(z.object({ Path: z.string(), Version: z.string() })),
});
const downloadSchema = z.object({ Dir: z.string() });

/** Returns the folder with a module's sources, in the version that the go.mod in a folder requires. */
export async function moduleSources(module: string, folder: string = GO_MODULE): Promise<string> {
  const { Require } = requirementsSchema.parse(JSON.parse(await run('go', ['mod', 'edit', '-json'], { cwd: folder })));
  const version = Require.find(({ Path }) => Path === module)?.Version;
  if (version === undefined) throw new Error(`${join(folder, 'go.mod')} does not require ${module}`);
  return sourcesOf(module, version);
}

async function sourcesOf(module: string, version: string): Promise<string> {
  // Runs outside the folder of go.mod, in which the module may be replaced.
  const args = ['mod', 'download', '-json', `${module}@${version}`];
  return downloadSchema.parse(JSON.parse(await run('go', args, { cwd: '/', deadline: 600 }))).Dir;
}

let workspace: Promise<string> | undefined;

/**
 * Creates the folder in which Go compiles, once: our module, and the modules that are compiled without unused parts.
 * Returns its path.
 */
export function layOutGoWorkspace(): Promise<string> {
  workspace ??= layOut().catch((error: unknown) => {
    workspace = undefined;
    throw error;
  });
  return workspace;
}

async function layOut(): Promise<string> {
  const folder = join(CACHE_FOLDER, 'go-workspace');
  const scratch = `${folder}.new`;
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true });
  cpSync(GO_MODULE, scratch, { recursive: true });
  const sourcesOfAll = PRUNED_MODULES.map(async (pruned) => {
    const { module, version } = pruned;
    return [pruned, await (version === undefined ? moduleSources(module) : sourcesOf(module, version))] as const;
  });
  for (const [pruned, sources] of await Promise.all(sourcesOfAll)) {
    layOutPruned(sources, join(scratch, 'pruned', pruned.folder), GO_MODULE, pruned);
  }
  rmSync(folder, { recursive: true, force: true });
  renameSync(scratch, folder);
  return folder;
}
