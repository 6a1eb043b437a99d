import { cpSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { cacheFolder } from './paths.ts';
import { layOutPruned, prunedModules } from './pruned-modules.ts';
import { run } from './run.ts';

/** Folder of our go.mod and programs. */
export const goModule = join(import.meta.dirname, 'go-module');

const requirementsSchema = z.object({
  Require: z.array(z.object({ Path: z.string(), Version: z.string() })),
});
const downloadSchema = z.object({ Dir: z.string() });

/** Returns the folder with a module's sources, in the version that the go.mod in a folder requires. */
export async function moduleSources(module: string, folder: string = goModule): Promise<string> {
  const { Require } = requirementsSchema.parse(JSON.parse(await run('go', ['mod', 'edit', '-json'], { cwd: folder })));
  const version = Require.find(({ Path }) => Path === module)?.Version;
  if (version === undefined) throw new Error(`${join(folder, 'go.mod')} does not require ${module}`);
  // Runs outside the folder of go.mod, in which the module may be replaced.
  const args = ['mod', 'download', '-json', `${module}@${version}`];
  return downloadSchema.parse(JSON.parse(await run('go', args, { cwd: '/', deadline: 600 }))).Dir;
}

/**
 * Creates the folder in which Go compiles: our module, and the modules that are compiled without unused parts. Returns
 * its path.
 */
export async function layOutGoWorkspace(): Promise<string> {
  const folder = join(cacheFolder, 'go-workspace');
  const scratch = `${folder}.new`;
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true });
  cpSync(goModule, scratch, { recursive: true });
  for (const pruned of prunedModules) {
    layOutPruned(await moduleSources(pruned.module), join(scratch, 'pruned', pruned.folder), goModule, pruned);
  }
  rmSync(folder, { recursive: true, force: true });
  renameSync(scratch, folder);
  return folder;
}
