import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Detail } from '../../support/progress.ts';
import { proxyVariables } from '../../support/proxies.ts';
import { RECIPE_LABEL, recipeLabelOf } from '../recipe.ts';
import { run, tryRun } from '../../support/run.ts';

/** Returns Docker's images with the label of their recipe, which is '' for images that were not built locally. */
export async function imageRecipes(images: readonly string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const image of images) {
    const format = `{{index (or .Config.Labels (js "")) "${RECIPE_LABEL}"}}`;
    const label = await tryRun('docker', ['image', 'inspect', '--format', format, image]);
    if (label !== undefined) found.set(image, label.trim());
  }
  return found;
}

/** Returns the URLs of the docker.io mirrors that the engine uses, without a trailing slash. */
export async function dockerHubMirrors(): Promise<string[]> {
  const listed = await run('docker', ['info', '--format', '{{json .RegistryConfig.Mirrors}}']);
  const mirrors = z.array(z.url()).nullable().parse(JSON.parse(listed));
  return (mirrors ?? []).map((url) => url.replace(/\/$/, ''));
}

let buildEnvironment: Record<string, string> | undefined;

/** Builds an image with the host's network, so that apt and npm can reach the same addresses as this machine. */
export async function dockerBuild(
  image: string,
  context: string,
  options: { recipe: string; dockerfile?: string; target?: string; args?: Record<string, string>; detail: Detail },
): Promise<void> {
  // Debian's engine has no buildx, and `docker build` does not fall back to the classic builder by itself.
  buildEnvironment ??= (await tryRun('docker', ['buildx', 'version'])) === undefined ? { DOCKER_BUILDKIT: '0' } : {};
  const args = ['build', '--network', 'host', '--label', recipeLabelOf(options.recipe), '--tag', image];
  if (options.dockerfile) args.push('--file', options.dockerfile);
  if (options.target) args.push('--target', options.target);
  for (const [name, value] of Object.entries(options.args ?? {})) args.push('--build-arg', `${name}=${value}`);
  for (const name of proxyVariables()) args.push('--build-arg', name);
  await run('docker', [...args, context], { env: buildEnvironment, detail: options.detail, deadline: 1200 });
}

/** Creates an image without settings from a tar archive of files. */
export async function importFiles(archive: string, image: string, recipe: string, detail: Detail): Promise<void> {
  const label = ['--change', `LABEL ${recipeLabelOf(recipe)}`];
  await run('docker', ['import', ...label, archive, image], { detail, deadline: 600 });
}

/** Creates an image with the files of another in one layer, and without its settings; `scratch` has room for them. */
export async function flattenImage(
  from: string,
  to: string,
  { recipe, scratch, detail }: { recipe: string; scratch: string; detail: Detail },
): Promise<void> {
  const container = (await run('docker', ['create', from, 'none'])).trim();
  const archive = join(scratch, 'files.tar');
  try {
    await run('docker', ['export', '--output', archive, container], { detail, deadline: 600 });
    await importFiles(archive, to, recipe, detail);
  } finally {
    await tryRun('docker', ['rm', container]);
    rmSync(archive, { force: true });
  }
}

/** Removes all locally built images. */
export async function removeLocalImages(): Promise<void> {
  const list = await run('docker', ['images', '--quiet', '--filter', `label=${RECIPE_LABEL}`]);
  const ids = [...new Set(list.split('\n').filter(Boolean))];
  if (ids.length > 0) await run('docker', ['rmi', '--force', ...ids], { deadline: 120 });
  await run('docker', ['image', 'prune', '--force', '--filter', `label=${RECIPE_LABEL}`], { deadline: 120 });
}
