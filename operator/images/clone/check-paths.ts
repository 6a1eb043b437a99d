// clone.sh runs this program after all files are fetched and before the build containers may start. It fails the clone
// if a build context or a Dockerfile is a symbolic link, which could lead buildctl to its own credentials.
import { z } from 'zod';
import { cloneSettingsSchema } from './clone-settings.ts';
import { checkPaths } from './plain-paths.ts';

const { WORKSPACE: workspace, CLONE_SETTINGS: settings } = z
  .object({ WORKSPACE: z.string(), CLONE_SETTINGS: cloneSettingsSchema })
  .parse(process.env);

try {
  await checkPaths(workspace, settings.folders, settings.files);
} catch (error) {
  process.stderr.write(`fatal: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
