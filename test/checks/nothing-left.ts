// Waits until everything that end-to-end tests have deleted is gone: their groups, with all objects. With
// `--take-away`, first deletes what a killed run has left.
import { z } from 'zod';
import { readConnection } from '../cluster/connection.ts';
import { PROGRAMS_FOLDER } from '../cluster/paths.ts';
import { runMain } from '../cluster/progress.ts';
import { run } from '../cluster/run.ts';
import { waitFor } from '../cluster/wait-for.ts';
import { LABELS } from '../../crds/labels.ts';
import { TEST_GROUP_LABEL } from '../end-to-end/test-group.ts';

const conditionSchema = z.object({ type: z.string(), status: z.string(), message: z.string().default('') });
const listSchema = z.object({
  items: z.array(
    z.object({
      kind: z.string(),
      metadata: z.object({ name: z.string(), deletionTimestamp: z.string().optional() }),
      status: z.object({ conditions: z.array(conditionSchema).default([]) }).default({ conditions: [] }),
    }),
  ),
});

const { kubeconfig } = readConnection();
const env = { PATH: `${PROGRAMS_FOLDER}:${process.env['PATH'] ?? ''}` };
const kubectl = (...args: string[]) => run('kubectl', ['--kubeconfig', kubeconfig, ...args], { env });

/** Returns what is still being deleted, with what its conditions report. */
async function leaving(): Promise<string[]> {
  const { items } = listSchema.parse(
    JSON.parse(await kubectl('get', 'groups.coppice.dev,namespaces', '--output', 'json')),
  );
  return items
    .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
    .map(({ kind, metadata, status }) => {
      const reports = status.conditions.filter((one) => one.status === 'True' || kind === 'Group');
      return [`${kind} ${metadata.name}`, ...reports.map((one) => `  ${one.type}: ${one.message}`)].join('\n');
    });
}

/** Returns namespaces of groups that never were on this cluster: tests of parts of the operator make them. */
async function namespacesWithoutGroup(): Promise<string[]> {
  const groups = (await kubectl('get', 'groups.coppice.dev', '--output', 'name')).split('\n');
  const selector = ['--selector', `${LABELS.managedBy}=coppice`];
  const group = `{.metadata.labels.${LABELS.group.replaceAll('.', '\\.')}}`;
  const format = ['--output', `jsonpath={range .items[*]}{.metadata.name} ${group}{"\\n"}{end}`];
  const namespaces = await kubectl('get', 'namespaces', ...selector, ...format);
  return namespaces
    .trim()
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, name]) => name !== undefined && name !== '' && !groups.includes(`group.coppice.dev/${name}`))
    .flatMap(([namespace]) => namespace ?? []);
}

await runMain(async () => {
  if (process.argv.includes('--take-away')) {
    await kubectl('delete', 'groups.coppice.dev', '--selector', `${TEST_GROUP_LABEL}=true`, '--wait=false');
    const left = await namespacesWithoutGroup();
    if (left.length > 0) await kubectl('delete', 'namespaces', '--wait=false', ...left);
  }
  await waitFor('what the tests made to go', 180, async () => {
    const left = await leaving();
    if (left.length > 0) throw new Error(`still there:\n${left.join('\n')}`);
    return true;
  });
});
