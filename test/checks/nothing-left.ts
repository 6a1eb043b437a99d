// Waits until everything that end-to-end tests have deleted is gone: their groups, with all objects. With
// `--take-away`, first deletes what a killed run has left.
import { z } from 'zod';
import { readConnection } from '../cluster/connection.ts';
import { PROGRAMS_FOLDER } from '../support/paths.ts';
import { runMain } from '../support/progress.ts';
import { run } from '../support/run.ts';
import { waitFor } from '../support/wait-for.ts';
import { LABELS } from '../../crds/labels.ts';
import { isTestAddress } from '../end-to-end/test-account.ts';

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

/** A kind of Coppice's in an API group of a test. */
const testKind = /^[a-z]+\.[a-z0-9-]+\.example\.org$/;

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

const namesSchema = z.object({
  items: z.array(
    z.object({ metadata: z.object({ name: z.string(), labels: z.record(z.string(), z.string()).default({}) }) }),
  ),
});

async function named(...what: string[]) {
  const { items } = namesSchema.parse(JSON.parse(await kubectl('get', ...what, '--output', 'json')));
  return items.map(({ metadata }) => metadata);
}

async function deleteAll(kind: string, names: readonly string[]): Promise<void> {
  if (names.length > 0) await kubectl('delete', kind, '--wait=false', '--ignore-not-found', ...names);
}

const groupsSchema = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string() }),
      spec: z.object({ owners: z.array(z.string()).default([]) }),
    }),
  ),
});

/** Returns the names of the groups that test accounts own. */
async function testGroups(): Promise<string[]> {
  const { items } = groupsSchema.parse(JSON.parse(await kubectl('get', 'groups.coppice.dev', '--output', 'json')));
  return items.filter(({ spec }) => spec.owners.some(isTestAddress)).map(({ metadata }) => metadata.name);
}

/** Returns namespaces of groups that never were on this cluster: tests of parts of the operator make them. */
async function namespacesWithoutGroup(): Promise<string[]> {
  const groups = (await named('groups.coppice.dev')).map(({ name }) => name);
  return (await named('namespaces')).flatMap(({ name, labels }) => {
    const group = labels[LABELS.group] ?? /^group-(.+)$/.exec(name)?.[1];
    return group === undefined || groups.includes(group) ? [] : [name];
  });
}

/** Deletes the kinds under names of their own that a killed test has left, whose objects no operator releases. */
async function takeAwayTestKinds(): Promise<void> {
  const kinds = (await named('customresourcedefinitions'))
    .map(({ name }) => name)
    .filter((name) => testKind.test(name));
  for (const kind of kinds) {
    const format = '--output=jsonpath={range .items[*]}{.metadata.namespace} {.metadata.name}{"\\n"}{end}';
    const objects = await kubectl('get', kind, '--all-namespaces', format);
    for (const line of objects
      .trim()
      .split('\n')
      .filter((one) => one !== '')) {
      const [namespace = '', name = ''] = line.split(' ');
      const at = namespace === '' ? [] : ['--namespace', namespace];
      await kubectl('patch', kind, name, ...at, '--type=merge', '--patch={"metadata":{"finalizers":null}}');
    }
  }
  await deleteAll('customresourcedefinitions', kinds);
}

await runMain(async () => {
  if (process.argv.includes('--take-away')) {
    await deleteAll('groups.coppice.dev', await testGroups());
    await takeAwayTestKinds();
    await deleteAll('namespaces', await namespacesWithoutGroup());
  }
  await waitFor('what the tests made to go', 180, async () => {
    const left = await leaving();
    if (left.length > 0) throw new Error(`still there:\n${left.join('\n')}`);
    return true;
  });
});
