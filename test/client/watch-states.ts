import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { PROGRAMS_FOLDER } from '../cluster/paths.ts';
import { objectOf } from './object-of.ts';

/** Reports every state of an environment with a watch, so that no short state is missed. Ends when stop() is called. */
export function watchStates(
  kubeconfig: string,
  environmentId: string,
  onState: (state: string) => void,
): { stop: () => void } {
  const { namespace, name } = objectOf(environmentId);
  const query = ['get', 'environments.coppice.dev', name, '--namespace', namespace, '--watch'];
  const child = spawn(
    'kubectl',
    ['--kubeconfig', kubeconfig, ...query, '--output', 'jsonpath={.status.state}{"\\n"}'],
    {
      env: { ...process.env, PATH: `${PROGRAMS_FOLDER}:${process.env['PATH'] ?? ''}` },
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  let last = '';
  createInterface(child.stdout).on('line', (state) => {
    if (state !== '' && state !== last) onState(state);
    if (state !== '') last = state;
  });
  return { stop: () => void child.kill() };
}
