import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { imageRecipes } from './docker.ts';
import { LOCAL_FOLDER } from '../../support/paths.ts';
import { imageStore } from './image-store.ts';
import type { StoredImage } from './image-store.ts';
import type { Detail, Progress } from '../../support/progress.ts';
import { RECIPE_LABEL } from '../recipe.ts';
import { pushLayers } from './push-layers.ts';
import { basicAuthorization } from '../registries/registry.ts';
import type { Registry } from '../registries/registry.ts';
import { run, tryRun } from '../../support/run.ts';

/** Returns the mirror's path of an image of docker.io: `node:24-slim` → `docker.io/library/node:24-slim`. */
export function mirrorPath(image: string): string {
  return `docker.io/${image.includes('/') ? image : `library/${image}`}`;
}

const manifestSchema = z.object({ config: z.object({ digest: z.string() }) });
const configSchema = z.object({ config: z.object({ Labels: z.record(z.string(), z.string()).nullish() }).nullish() });

/** Pushes an image from Docker to a path of the registry, unless it has this version; returns its name there. */
export async function pushImage(image: string, path: string, registry: Registry, progress: Progress): Promise<string> {
  const recipe = (await imageRecipes([image])).get(image);
  if ((await recipeInRegistry(path, registry)) !== recipe) {
    await progress.step(`push ${image} to the registry`, (detail) => push(image, path, registry, detail));
  }
  return `${registry.nodeAddress ?? registry.address}/${path}`;
}

/** Pushes a stored image to a path of the local registry, unless it has this version; returns its name there. */
export async function pushStored(
  stored: StoredImage,
  path: string,
  registry: Registry,
  progress: Progress,
): Promise<string> {
  if ((await recipeInRegistry(path, registry)) !== stored.recipe) {
    await progress.step(`push ${stored.image} to the registry`, () => pushLayers(imageStore, stored, path, registry));
  }
  return `${registry.nodeAddress ?? registry.address}/${path}`;
}

/**
 * Returns the recipe label of an image in the registry, '' if it has none. Returns undefined if the image is missing,
 * or the registry needs token authentication: the image is then pushed, which transfers no existing layers.
 */
async function recipeInRegistry(path: string, registry: Registry): Promise<string | undefined> {
  const [host = '', ...prefix] = registry.hostAddress.split('/');
  const [repository = '', tag = 'latest'] = path.split(':');
  const base = `${registry.insecure ? 'http' : 'https'}://${host}/v2/${[...prefix, repository].join('/')}`;
  const get = async (url: string, accept: string): Promise<unknown> => {
    const headers = { authorization: basicAuthorization(registry), accept };
    const answer = await fetch(`${base}/${url}`, { headers, signal: AbortSignal.timeout(10_000) });
    return answer.ok ? answer.json() : undefined;
  };
  const accept = 'application/vnd.docker.distribution.manifest.v2+json, application/vnd.oci.image.manifest.v1+json';
  const manifest = manifestSchema.safeParse(await get(`manifests/${tag}`, accept));
  if (!manifest.success) return undefined;
  const config = configSchema.safeParse(await get(`blobs/${manifest.data.config.digest}`, '*/*'));
  return config.success ? (config.data.config?.Labels?.[RECIPE_LABEL] ?? '') : undefined;
}

async function push(image: string, path: string, registry: Registry, detail: Detail): Promise<void> {
  const target = `${registry.hostAddress}/${path}`;
  await run('docker', ['tag', image, target]);
  try {
    await run('docker', ['push', target], { env: await dockerCredentials(registry), detail, deadline: 600 });
  } finally {
    await tryRun('docker', ['rmi', target]);
  }
}

/** Returns a separate Docker configuration with the credentials, because `docker login` would change the user's. */
async function dockerCredentials(registry: Registry): Promise<Record<string, string>> {
  const folder = join(LOCAL_FOLDER, 'docker');
  mkdirSync(folder, { recursive: true });
  const auth = Buffer.from(`${registry.username}:${registry.password}`).toString('base64');
  const config = { auths: { [registry.hostAddress.split('/')[0] ?? '']: { auth } } };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config), { mode: 0o600 });
  // The user's configuration, which is not used here, contains the current context and thus the engine's address.
  const host = await run('docker', ['context', 'inspect', '--format', '{{.Endpoints.docker.Host}}']);
  return { DOCKER_CONFIG: folder, DOCKER_HOST: host.trim() };
}
