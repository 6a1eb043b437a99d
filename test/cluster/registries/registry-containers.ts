import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LOCAL_FOLDER } from '../../support/paths.ts';
import { messageOf, Problem } from '../../support/problem.ts';
import type { Detail } from '../../support/progress.ts';
import { run, tryRun } from '../../support/run.ts';
import { CLUSTER_NAME } from '../kind-cluster.ts';
import { RECIPE_LABEL, recipeLabelOf } from '../recipe.ts';
import { IMAGES } from '../versions.ts';
import { IMAGES_CONTAINER, REGISTRY_CONTAINER, REGISTRY_VOLUME } from './registry.ts';

interface RegistryContainer {
  name: string;
  /** Address on this machine, where it is published. */
  hostAddress: string;
  /** Hash of everything from which it is created. */
  recipe: string;
  /** Texts of the files in /etc/distribution, by their names. */
  files: Readonly<Record<string, string>>;
}

/** Creates a container of the registry with its data on the volume, and starts it. */
export async function createContainer(
  { name, hostAddress, recipe, files }: RegistryContainer,
  detail: Detail,
): Promise<void> {
  detail('creating the container');
  const labels = ['--label', `dev.coppice.cluster=${CLUSTER_NAME}`, '--label', recipeLabelOf(recipe)];
  await run('docker', [
    'create',
    ...['--name', name, '--restart', 'unless-stopped', '--publish', `${hostAddress}:5000`],
    ...['--env', 'OTEL_TRACES_EXPORTER=none', '--volume', `${REGISTRY_VOLUME}:/var/lib/registry`],
    ...labels,
    IMAGES.registry,
  ]);
  // The files are copied as a tar archive, because the engine may have another file system.
  const folder = join(LOCAL_FOLDER, 'registry', name, 'distribution');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text, { mode: 0o600 });
  await run('docker', ['cp', folder, `${name}:/etc/`]);
  await run('docker', ['start', name]);
}

/** Returns a field of a container by Docker's template; undefined if there is no such container. */
export async function inspect(container: string, format: string): Promise<string | undefined> {
  return (await tryRun('docker', ['inspect', '--format', format, container]))?.trim();
}

/** Returns the recipe of a container; undefined if there is no such container. */
export function recipeOf(container: string): Promise<string | undefined> {
  return inspect(container, `{{index .Config.Labels "${RECIPE_LABEL}"}}`);
}

/** Returns the state and last output of a container, to find out why it does not respond. */
export async function diagnose(container: string): Promise<string> {
  const state = await inspect(container, '{{json .State}} {{json .NetworkSettings.Ports}}');
  const log = await tryRun('sh', ['-c', 'docker logs --tail 5 "$1" 2>&1', 'sh', container]);
  return [state, log].filter((part) => part !== undefined).join('\n');
}

/** Returns the Problem that a container does not respond, with its state and last output. */
export async function withDiagnosis(error: unknown, container: string): Promise<Problem> {
  return new Problem(`${messageOf(error)}\n${await diagnose(container)}`, { cause: error });
}

/** Connects the registries to the cluster's network, so that the node and pods can reach them by name. */
export async function connectRegistries(): Promise<void> {
  await Promise.all([REGISTRY_CONTAINER, IMAGES_CONTAINER].map(connectRegistry));
}

async function connectRegistry(container: string): Promise<void> {
  const format = '{{range $name, $_ := .NetworkSettings.Networks}}{{$name}} {{end}}';
  const networks = await run('docker', ['inspect', '--format', format, container]);
  if (networks.split(' ').includes('kind')) return;
  await run('docker', ['network', 'connect', 'kind', container]).catch(async (error: unknown) => {
    // Another step of this start may have connected it meanwhile.
    if (!(await run('docker', ['inspect', '--format', format, container])).split(' ').includes('kind')) throw error;
  });
}

/** Removes the containers of both registries, and the volume with their images. */
export async function removeRegistries(): Promise<void> {
  const filters = [REGISTRY_CONTAINER, IMAGES_CONTAINER].flatMap((name) => ['--filter', `name=^${name}$`]);
  const ids = (await run('docker', ['ps', '--all', '--quiet', ...filters])).split('\n').filter((id) => id !== '');
  if (ids.length > 0) await run('docker', ['rm', '--force', '--volumes', ...ids], { deadline: 120 });
  await run('docker', ['volume', 'rm', '--force', REGISTRY_VOLUME]);
}
