import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Environment } from '../../crds/environment.ts';
import { Life } from './testing/life.ts';
import { COLUMNS, STATE_TABLE, TABLE_CELLS, TRIGGERS, type TableCell, type Trigger } from './testing/state-table.ts';

test('docs/environments.md shows the same table', async () => {
  const text = await readFile(join(import.meta.dirname, '../../docs/environments.md'), 'utf8');
  const lines = text.slice(text.indexOf('## State × trigger')).split('\n');
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

/** Brings an environment into the column's state. A second one on the ref comes only where the trigger says so. */
async function lifeIn({ trigger, column }: TableCell): Promise<Life> {
  const life = new Life();
  life.settings = trigger === 'ref gone, onRefGone keep' ? { onRefGone: 'keep' } : {};
  if (trigger === 'scheduled rebuild') life.settings.scheduledRebuild = { mode: 'all', hour: '00:30', timeZone: 'UTC' };
  await life.operate();
  const isMadeBySpec = trigger !== 'spec.active to true';
  if (trigger === 'spec.active to false') life.spawn(name, { buildOnCreate: column !== 'created' });
  else {
    life.spawn(name, { active: false });
    await life.clock.advance(1000);
    life.request(name, ...(column === 'created' ? (['create'] as const) : (['create', 'build'] as const)));
  }
  if (column === 'building') life.gates.images = false;
  await life.clock.advance(1000);
  if (column === 'empty' || column === 'being removed') {
    if (column === 'being removed') life.namespaces.goesMs = trigger === 'scheduled rebuild' ? 1.3 * hourMs : 8000;
    if (trigger.startsWith('end of the TTL')) life.requestTtl(name, 6);
    life.request(name, 'delete');
    await life.clock.advance(column === 'empty' ? 10_000 : 1000);
  }
  if (!isMadeBySpec) expect(life.read(name)?.spec.active).toBe(false);
  return life;
}

const triggers: Record<Trigger, (life: Life) => unknown> = {
  'spawn of the same ref': (life) => life.spawn('beside'),
  PUT: (life) => life.request(name, 'create', 'build'),
  'PUT without build': (life) => life.request(name, 'create'),
  build: (life) => life.request(name, 'build'),
  rebuild: (life) => life.request(name, 'rebuild'),
  'GET with build': (life) => life.read(name)?.status?.state === 'created' && life.request(name, 'build'),
  DELETE: (life) => life.request(name, 'delete'),
  'DELETE, others hold the ref': async (life) => {
    life.spawn('beside', { active: false });
    await life.clock.advance(100);
    life.request(name, 'delete');
  },
  'end of the TTL': (life) => life.requestTtl(name, 5),
  'end of the TTL, others hold the ref': (life) => {
    life.spawn('beside', { active: false });
    life.requestTtl(name, 5);
  },
  'change of the TTL': (life) => life.requestTtl(name, 3600),
  'ref gone': (life) => {
    life.head = undefined;
    return life.sync();
  },
  'ref gone, onRefGone keep': (life) => {
    life.head = undefined;
    return life.sync();
  },
  'new commit': (life) => {
    life.head = 'c2';
    return life.sync();
  },
  'scheduled rebuild': (life) => life.clock.advance(1.1 * hourMs),
  'spec.active to false': (life) => life.changeSpec(name, { active: false }),
  'spec.active to true': (life) => life.changeSpec(name, { active: true }),
  'spec.suspend': async (life) => {
    life.changeSpec(name, { suspend: true });
    await life.clock.advance(30_000);
    expect(life.read(name)?.status?.conditions?.find(({ type }) => type === 'Stalled')?.reason).toBe('Suspended');
    life.changeSpec(name, { suspend: false });
  },
  'kubectl delete': (life) => life.delete(name),
  // Both do no more to an environment than that.
  'repository deleted': (life) => life.delete(name),
  'group deleted': (life) => life.delete(name),
};

function namespaceUid(life: Life): string | undefined {
  return life.namespaces.list().find(({ metadata }) => metadata.name.startsWith('env-shop-main'))?.metadata.uid;
}

function buildOf(environment: Environment | undefined): string {
  const { number = 0, result = '', noCache = false, commit } = environment?.status?.build ?? {};
  return `${number} ${result}${noCache ? ' without cache' : ''} ${commit ?? ''}`;
}

describe.each(TRIGGERS)('%s', (trigger) => {
  const cells = TABLE_CELLS.filter((one) => one.trigger === trigger);

  test.each(cells.filter(({ isRefused }) => !isRefused))('$column: $outcome', async (cell) => {
    const { column, outcome } = cell;
    const life = await lifeIn(cell);
    const before = life.read(name);
    const [beforeUid, beforeBuild] = [namespaceUid(life), buildOf(before)];
    expect(before?.status?.state).toBe(column === 'being removed' ? 'built' : column);
    await triggers[trigger](life);
    await life.clock.advance(15_000);
    life.openGates({ images: true });
    await life.clock.advance(trigger === 'scheduled rebuild' ? hourMs / 2 : 15_000);
    const after = life.read(name);
    const number = Number(beforeBuild.split(' ')[0]);
    const finished = column === 'building' ? beforeBuild.replace('running', 'succeeded') : beforeBuild;
    const next = {
      stays: [column === 'building' ? 'built' : column, finished, beforeUid],
      joins: ['built', finished, beforeUid],
      built: ['built', `${number + 1} succeeded ${life.head ?? ''}`, namespaceUid(life)],
      superseded: ['built', `${number + 1} succeeded c2`, beforeUid],
      rebuilt: ['built', `${number + 1} succeeded without cache c1`, namespaceUid(life)],
      created: ['created', beforeBuild, namespaceUid(life)],
      empty: ['empty', column === 'building' ? `${number} cancelled c1` : beforeBuild, undefined],
      gone: [undefined, buildOf(undefined), undefined],
    }[outcome];
    expect([after?.status?.state, buildOf(after), namespaceUid(life)]).toEqual(next);
    if (outcome === 'rebuilt') expect(namespaceUid(life)).not.toBe(beforeUid);
    if (after) expect(after.status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
    await life.stop();
  });
});
