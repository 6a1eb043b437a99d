// The last step of clone.sh, before buildctl can read any files.
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
