// Completes the clone of clone.sh with submodules and large files (Git LFS), in the container that has only the
// repository's credentials. Checks addresses like the operator.
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { addressGuard } from '../../source/network/addresses.ts';
import type { GitCredentials } from '../../source/git/git-config.ts';
import type { Checkout } from './checkout.ts';
import { cloneSettingsSchema } from './clone-settings.ts';
import { entriesOf, runGit } from './git.ts';
import { LargeFiles } from './lfs.ts';
import { Submodules } from './submodules.ts';

const environment = z
  .object({
    WORKSPACE: z.string(),
    ORIGIN: z.string(),
    COMMIT: z.string(),
    GIT_CONFIG_GLOBAL: z.string(),
    CLONE_SETTINGS: cloneSettingsSchema,
  })
  .parse(process.env);
const { WORKSPACE: workspace, ORIGIN: origin, COMMIT: commit, GIT_CONFIG_GLOBAL: config } = environment;
const { allowedCidrs, ports, sshPorts, trusted, folders } = environment.CLONE_SETTINGS;

/** Returns the Authorization header that git sends to the repository's host, if any. */
async function authorizationOf(): Promise<string | undefined> {
  const settings = entriesOf(await runGit(['config', '--file', config, '--null', '--list'], config));
  const header = settings.find((setting) => /^http\..*\.extraheader\n/.test(setting)) ?? '';
  return /\nAuthorization: (.+)$/i.exec(header)?.[1];
}

function credentialsOf(authorization: string): GitCredentials | undefined {
  const plain = Buffer.from(authorization.replace(/^Basic /i, ''), 'base64').toString('utf8');
  const colon = plain.indexOf(':');
  return colon < 0 ? undefined : { username: plain.slice(0, colon), password: plain.slice(colon + 1) };
}

async function complete(): Promise<void> {
  const rules = { isAddressAllowed: addressGuard(allowedCidrs), ports, sshPorts };
  const scratch = await mkdtemp('/tmp/submodules-');
  try {
    const authorization = await authorizationOf();
    const root: Checkout = {
      gitDir: join(workspace, '.git'),
      folder: workspace,
      path: '',
      origin,
      commit,
      config,
      authorization,
    };
    const largeFiles = new LargeFiles(rules);
    await largeFiles.fetch(root);
    // The author of a pull request could name any repository that the credentials can read.
    const credentials = trusted && authorization !== undefined ? credentialsOf(authorization) : undefined;
    const options = { workspace, scratch, rules, root, credentials, isKeyLent: trusted, paths: folders };
    const submodules = new Submodules(options);
    await submodules.fetch(root, (checkout) => largeFiles.fetch(checkout));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

try {
  await complete();
} catch (error) {
  process.stderr.write(`fatal: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
