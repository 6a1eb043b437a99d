// Waits until everything that end-to-end tests have deleted is gone: their groups, with all objects. With
// `--take-away`, first deletes what a killed run has left.
import { z } from 'zod';
import { readConnection } from '../cluster/connection.ts';
import { PROGRAMS_FOLDER } from '../cluster/paths.ts';
import { runMain } from '../cluster/progress.ts';
import { run } from '../cluster/run.ts';
import { waitFor } from '../cluster/wait-for.ts';
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

await runMain(async () => {
  if (process.argv.includes('--take-away')) {
    await kubectl('delete', 'groups.coppice.dev', '--selector', `${TEST_GROUP_LABEL}=true`, '--wait=false');
  }
  await waitFor('what the tests made to go', 180, async () => {
    const left = await leaving();
    if (left.length > 0) throw new Error(`still there:\n${left.join('\n')}`);
    return true;
  });
});
