import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Environment } from '../../../crds/environment.ts';
import { Simulation } from './testing/simulation.ts';
import { COLUMNS, STATE_TABLE, TABLE_CELLS, TRIGGERS, type TableCell, type Trigger } from './testing/state-table.ts';

test('is shown in docs/reference/environment-lifecycle.md', async () => {
  const text = await readFile(join(import.meta.dirname, '../../../docs/reference/environment-lifecycle.md'), 'utf8');
  const lines = text.slice(text.indexOf('## Effect of each trigger')).split('\n');
  const rows = lines
    .slice(lines.findIndex((line) => line.startsWith('|')))
    .filter((_line, index, all) => all.slice(0, index + 1).every((one) => one.startsWith('|')));
  const table = rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.replaceAll('`', '').trim()),
  );
  const [head, , ...body] = table;
  expect(head?.slice(1)).toEqual(COLUMNS);
  expect(Object.fromEntries(body.map(([trigger, ...cells]) => [trigger, cells]))).toEqual(STATE_TABLE);
});

const name = 'shop-main';
const hourMs = 3600_000;

/** Brings an environment into the column's state. A second one of the ref is created only if the trigger needs it. */
async function simulationIn({ trigger, column }: TableCell): Promise<Simulation> {
  const simulation = new Simulation();
  simulation.settings = trigger === 'ref gone, onRefGone keep' ? { onRefGone: 'keep' } : {};
  if (trigger === 'scheduled rebuild')
    simulation.settings.scheduledRebuild = { mode: 'all', hour: '00:30', timeZone: 'UTC' };
  await simulation.operate();
  const isMadeBySpec = trigger !== 'spec.active to true';
  if (trigger === 'spec.active to false') simulation.spawn(name, { buildOnCreate: column !== 'created' });
  else {
    simulation.spawn(name, { active: false });
    await simulation.clock.advance(1000);
    simulation.request(name, ...(column === 'created' ? (['create'] as const) : (['create', 'build'] as const)));
  }
  if (column === 'building') simulation.gates.images = false;
  await simulation.clock.advance(1000);
  if (column === 'empty' || column === 'being removed') {
    if (column === 'being removed')
      simulation.namespaces.goesMs = trigger === 'scheduled rebuild' ? 1.3 * hourMs : 8000;
    if (trigger.startsWith('end of the TTL')) simulation.requestTtl(name, 6);
    simulation.request(name, 'delete');
    await simulation.clock.advance(column === 'empty' ? 10_000 : 1000);
  }
  if (!isMadeBySpec) expect(simulation.read(name)?.spec.active).toBe(false);
  return simulation;
}

const triggers: Record<Trigger, (simulation: Simulation) => unknown> = {
  'spawn of the same ref': (simulation) => simulation.spawn('beside'),
  PUT: (simulation) => simulation.request(name, 'create', 'build'),
  'PUT without build': (simulation) => simulation.request(name, 'create'),
  build: (simulation) => simulation.request(name, 'build'),
  rebuild: (simulation) => simulation.request(name, 'rebuild'),
  'GET with build': (simulation) =>
    simulation.read(name)?.status?.state === 'created' && simulation.request(name, 'build'),
  DELETE: (simulation) => simulation.request(name, 'delete'),
  'DELETE, others hold the ref': async (simulation) => {
    simulation.spawn('beside', { active: false });
    await simulation.clock.advance(100);
    simulation.request(name, 'delete');
  },
  'end of the TTL': (simulation) => simulation.requestTtl(name, 5),
  'end of the TTL, others hold the ref': (simulation) => {
    simulation.spawn('beside', { active: false });
    simulation.requestTtl(name, 5);
  },
  'change of the TTL': (simulation) => simulation.requestTtl(name, 3600),
  'ref gone': (simulation) => {
    simulation.head = undefined;
    return simulation.sync();
  },
  'ref gone, onRefGone keep': (simulation) => {
    simulation.head = undefined;
    return simulation.sync();
  },
  'new commit': (simulation) => {
    simulation.head = 'c2';
    return simulation.sync();
  },
  'scheduled rebuild': (simulation) => simulation.clock.advance(1.1 * hourMs),
  'spec.active to false': (simulation) => simulation.changeSpec(name, { active: false }),
  'spec.active to true': (simulation) => simulation.changeSpec(name, { active: true }),
  'spec.suspend': async (simulation) => {
    simulation.changeSpec(name, { suspend: true });
    await simulation.clock.advance(30_000);
    expect(simulation.read(name)?.status?.conditions?.find(({ type }) => type === 'Stalled')?.reason).toBe('Suspended');
    simulation.changeSpec(name, { suspend: false });
  },
  'kubectl delete': (simulation) => simulation.delete(name),
  // Deleting either of them only deletes the environment.
  'repository deleted': (simulation) => simulation.delete(name),
  'group deleted': (simulation) => simulation.delete(name),
};

function namespaceUid(simulation: Simulation): string | undefined {
  return simulation.namespaces.list().find(({ metadata }) => metadata.name.startsWith('env-shop-main'))?.metadata.uid;
}

function buildOf(environment: Environment | undefined): string {
  const { number = 0, result = '', noCache = false, commit } = environment?.status?.build ?? {};
  return `${number} ${result}${noCache ? ' without cache' : ''} ${commit ?? ''}`;
}

describe.each(TRIGGERS)('%s', (trigger) => {
  const cells = TABLE_CELLS.filter((one) => one.trigger === trigger);

  test.each(cells.filter(({ isRefused }) => !isRefused))('$column: $outcome', async (cell) => {
    const { column, outcome } = cell;
    const simulation = await simulationIn(cell);
    const before = simulation.read(name);
    const [beforeUid, beforeBuild] = [namespaceUid(simulation), buildOf(before)];
    expect(before?.status?.state).toBe(column === 'being removed' ? 'built' : column);
    await triggers[trigger](simulation);
    await simulation.clock.advance(15_000);
    simulation.openGates({ images: true });
    await simulation.clock.advance(trigger === 'scheduled rebuild' ? hourMs / 2 : 15_000);
    const after = simulation.read(name);
    const number = Number(beforeBuild.split(' ')[0]);
    const finished = column === 'building' ? beforeBuild.replace('running', 'succeeded') : beforeBuild;
    const next = {
      stays: [column === 'building' ? 'built' : column, finished, beforeUid],
      joins: ['built', finished, beforeUid],
      built: ['built', `${number + 1} succeeded ${simulation.head ?? ''}`, namespaceUid(simulation)],
      superseded: ['built', `${number + 1} succeeded c2`, beforeUid],
      rebuilt: ['built', `${number + 1} succeeded without cache c1`, namespaceUid(simulation)],
      created: ['created', beforeBuild, namespaceUid(simulation)],
      empty: ['empty', column === 'building' ? `${number} cancelled c1` : beforeBuild, undefined],
      gone: [undefined, buildOf(undefined), undefined],
    }[outcome];
    expect([after?.status?.state, buildOf(after), namespaceUid(simulation)]).toEqual(next);
    if (outcome === 'rebuilt') expect(namespaceUid(simulation)).not.toBe(beforeUid);
    if (after) expect(after.status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
    await simulation.stop();
  });
});
