import { join } from 'node:path';
import { z } from 'zod';
import { LOCAL_FOLDER, REPOSITORY_ROOT } from '../support/paths.ts';
import { toolPath } from './go/programs.ts';
import { run } from '../support/run.ts';

/** Runs Helm for the local cluster's release. */
function helm(kubeconfig: string, ...args: string[]): Promise<string> {
  const how = ['--kubeconfig', kubeconfig, '--namespace', 'coppice-system'];
  return run(toolPath('helm'), [...args, ...how], { deadline: 240 });
}

const historySchema = z.array(z.looseObject({ description: z.string() }));

/** Upgrades the release with other values, by their paths, and waits until it runs with them. */
export async function setValues(kubeconfig: string, values: Readonly<Record<string, unknown>>): Promise<void> {
  const set = Object.entries(values).flatMap(([path, value]) => ['--set-json', `${path}=${JSON.stringify(value)}`]);
  await upgrade(kubeconfig, '--reuse-values', ...set);
}

/** Upgrades the release with the values of `npm run up`. */
export async function resetValues(kubeconfig: string): Promise<void> {
  await upgrade(kubeconfig, '--reset-values', '--values', join(LOCAL_FOLDER, 'values.yaml'));
}

async function upgrade(kubeconfig: string, ...values: string[]): Promise<void> {
  // By the description `npm run up` recognizes its checkout.
  const history: unknown = JSON.parse(await helm(kubeconfig, 'history', 'coppice', '--max', '1', '--output', 'json'));
  const description = historySchema.parse(history).at(-1)?.description ?? '';
  const chart = join(REPOSITORY_ROOT, 'charts/coppice');
  const how = ['--description', description, '--force-conflicts', '--wait'];
  await helm(kubeconfig, 'upgrade', 'coppice', chart, ...values, ...how);
}
