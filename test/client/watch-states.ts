import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { ENVIRONMENT } from '../../crds/environment.ts';
import { PROGRAMS_FOLDER } from '../support/paths.ts';
import { objectOf } from './object-of.ts';

const environmentsPath = (namespace: string): string =>
  `/apis/${ENVIRONMENT.group}/${ENVIRONMENT.version}/namespaces/${namespace}/${ENVIRONMENT.plural}`;

const eventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ERROR'), object: z.object({ message: z.string() }) }),
  z.object({
    type: z.enum(['ADDED', 'MODIFIED', 'DELETED']),
    object: z.object({ status: z.object({ state: z.string().optional() }).optional() }),
  }),
]);
const listSchema = z.object({ metadata: z.object({ resourceVersion: z.string() }) });

/** Returns the current resource version of a namespace's environments, from which a watch can start. */
export async function currentResourceVersion(
  kubectl: (args: string[]) => Promise<string>,
  namespace: string,
): Promise<string> {
  const list = await kubectl(['get', '--raw', `${environmentsPath(namespace)}?limit=1`]);
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
  const args = ['--kubeconfig', kubeconfig, 'get', '--raw', `${environmentsPath(namespace)}?${String(query)}`];
  const child = spawn('kubectl', args, {
    env: { ...process.env, PATH: `${PROGRAMS_FOLDER}:${process.env['PATH'] ?? ''}` },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let last: string | undefined;
  const lines = createInterface(child.stdout).on('line', (line) => {
    const event = eventSchema.parse(JSON.parse(line));
    if (event.type === 'ERROR') throw new Error(`the watch of ${environmentId} ended: ${event.object.message}`);
    const state = event.object.status?.state;
    if (state === undefined || state === last) return;
    last = state;
    onState(state);
  });
  const stop = (): void => {
    // The last line may be incomplete.
    lines.removeAllListeners('line');
    child.kill();
  };
  return { stop };
}
