import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { ENVIRONMENT } from '../../crds/environment.ts';
import { PROGRAMS_FOLDER } from '../cluster/paths.ts';
import { objectOf } from './object-of.ts';

const environments = (namespace: string): string =>
  `/apis/${ENVIRONMENT.group}/${ENVIRONMENT.version}/namespaces/${namespace}/${ENVIRONMENT.plural}`;

const eventSchema = z.object({
  object: z.object({ status: z.object({ state: z.string().optional() }).optional() }),
});
const listSchema = z.object({ metadata: z.object({ resourceVersion: z.string() }) });

/** Returns the current resource version of a namespace's environments, from which a watch can start. */
export async function currentVersion(kubectl: (args: string[]) => Promise<string>, namespace: string): Promise<string> {
  const list = await kubectl(['get', '--raw', `${environments(namespace)}?limit=1`]);
  return listSchema.parse(JSON.parse(list)).metadata.resourceVersion;
}

/**
 * Reports every state of an environment with a watch, so that no short state is missed: those since a resource version,
 * or from now on. Ends when stop() is called.
 */
export function watchStates(
  kubeconfig: string,
  environmentId: string,
  onState: (state: string) => void,
  since?: string,
): { stop: () => void } {
  const { namespace, name } = objectOf(environmentId);
  const query = new URLSearchParams({ watch: 'true', fieldSelector: `metadata.name=${name}` });
  if (since !== undefined) query.set('resourceVersion', since);
  const args = ['--kubeconfig', kubeconfig, 'get', '--raw', `${environments(namespace)}?${String(query)}`];
  const child = spawn('kubectl', args, {
    env: { ...process.env, PATH: `${PROGRAMS_FOLDER}:${process.env['PATH'] ?? ''}` },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let last: string | undefined;
  createInterface(child.stdout).on('line', (line) => {
    const state = eventSchema.parse(JSON.parse(line)).object.status?.state;
    if (state === undefined || state === last) return;
    last = state;
    onState(state);
  });
  return { stop: () => void child.kill() };
}
