import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { imageRecipes } from './docker.ts';
import { localFolder } from './paths.ts';
import type { Progress } from './progress.ts';
import { basicAuthorization } from './registry.ts';
import type { Registry } from './registry.ts';
import { run, tryRun } from './run.ts';

/** `node:24-slim` → `docker.io/library/node:24-slim`: where the mirror keeps an image of docker.io. */
export function mirrorPath(image: string): string {
  return `docker.io/${image.includes('/') ? image : `library/${image}`}`;
}

const manifestSchema = z.object({ config: z.object({ digest: z.string() }) });
const configSchema = z.object({ config: z.object({ Labels: z.record(z.string(), z.string()).nullish() }).nullish() });

/** Pushes those of the images that the registry does not hold in this version, below docker.io/. */
export async function pushToMirror(names: readonly string[], registry: Registry, progress: Progress): Promise<void> {
  const recipes = await imageRecipes(names);
  for (const name of names) {
    if ((await storedRecipe(mirrorPath(name), registry)) === recipes.get(name)) continue;
    await progress.step(`push ${name} to the registry`, (detail) =>
      pushImage(name, mirrorPath(name), registry, detail),
    );
  }
}

/** The recipe label of an image in the registry ('' when it has none); undefined when it is not there. */
async function storedRecipe(path: string, registry: Registry): Promise<string | undefined> {
  const [repository, tag] = path.split(':');
  const get = async (url: string, accept: string): Promise<unknown> => {
    const headers = { authorization: basicAuthorization(registry), accept };
    const answer = await fetch(`http://${registry.hostAddress}/v2/${repository ?? ''}/${url}`, { headers });
    if (answer.status === 404) return undefined;
    if (!answer.ok) throw new Error(`The registry answers ${answer.status} for ${path}`);
    return answer.json();
  };
  const accept = 'application/vnd.docker.distribution.manifest.v2+json, application/vnd.oci.image.manifest.v1+json';
  const manifest = await get(`manifests/${tag ?? 'latest'}`, accept);
  if (manifest === undefined) return undefined;
  const parsed = manifestSchema.safeParse(manifest);
  if (!parsed.success) return ''; // an index: no image of ours
  const config = configSchema.parse(await get(`blobs/${parsed.data.config.digest}`, '*/*'));
  return config.config?.Labels?.['dev.coppice.recipe'] ?? '';
}

/** Pushes an image that Docker has under a path of the registry. */
export async function pushImage(
  image: string,
  path: string,
  registry: Registry,
  detail: (text: string) => void,
): Promise<string> {
  const target = `${registry.hostAddress}/${path}`;
  await run('docker', ['tag', image, target]);
  try {
    await run('docker', ['push', target], { env: await dockerCredentials(registry), detail, deadline: 600 });
  } finally {
    await tryRun('docker', ['rmi', target]);
  }
  return `${registry.address}/${path}`;
}

/** A Docker configuration of its own, since `docker login` would write into the user's. */
async function dockerCredentials(registry: Registry): Promise<Record<string, string>> {
  const folder = join(localFolder, 'docker');
  mkdirSync(folder, { recursive: true });
  const auth = Buffer.from(`${registry.username}:${registry.password}`).toString('base64');
  const config = { auths: { [registry.hostAddress.split('/')[0] ?? '']: { auth } } };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config), { mode: 0o600 });
  // The current context, which is in the user's configuration, says where the engine is.
  const host = await run('docker', ['context', 'inspect', '--format', '{{.Endpoints.docker.Host}}']);
  return { DOCKER_CONFIG: folder, DOCKER_HOST: host.trim() };
}
