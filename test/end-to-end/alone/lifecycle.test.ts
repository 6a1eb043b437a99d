import { afterAll, beforeAll, expect } from '@jest/globals';
import {
  COLUMNS,
  TABLE_CELLS,
  TRIGGERS,
  type TableCell,
} from '../../../operator/kinds/environment/testing/state-table.ts';
import { testClient } from '../../api-server/api-server.ts';
import { randomName, startHarness, type Harness } from '../harness.ts';
import { LifecycleBoard } from '../lifecycle-board.ts';
import { check, prepare, rest } from '../lifecycle-cell.ts';
import { TRIGGER_PULLS } from '../lifecycle-triggers.ts';
import { LifecycleWorld, repositoryOf } from '../lifecycle-world.ts';
import { isSettledAs } from '../lifecycle-conditions.ts';
import { testsSideBySide } from '../side-by-side.ts';

/**
 * The cells of the table of state and trigger (docs/reference/environment-lifecycle.md), all at once, each on a branch
 * of its own. Two cells of the schedule are left to state-table.test.ts: a new environment is not rebuilt anyway, so
 * these tests could not show that one without contents is not.
 */
const cells = TABLE_CELLS.filter(
  ({ trigger, column }) => trigger !== 'scheduled rebuild' || (column !== 'empty' && column !== 'being removed'),
);

let harness: Harness;
let world: LifecycleWorld;
/** Resolves once the Repositories exist. */
let ready: Promise<void>;

beforeAll(async () => {
  harness = await startHarness('lifecycle');
  const doomedGroup = randomName('doomed');
  await harness.addGroup(doomedGroup);
  world = new LifecycleWorld(harness, new LifecycleBoard(testClient(), [harness.group, doomedGroup]), doomedGroup);
  ready = addRepositories();
  await ready;
}, 120_000);

afterAll(async () => {
  await world.board.stop();
  await harness.remove();
}, 60_000);

const branchOf = ({ trigger, column }: TableCell) => `t${TRIGGERS.indexOf(trigger)}-${COLUMNS.indexOf(column)}`;
const groupOf = ({ trigger }: TableCell) => (trigger === 'group deleted' ? world.doomedGroup : harness.group);
const locationOf = (cell: TableCell) => `${groupOf(cell)}.${repositoryOf(cell.trigger)}`;
const lifecycles = Array.from({ length: 20 }, (_, index) => `lifecycle-${index}`);
const pairs = [
  'rebuild-delete',
  'delete-create',
  'build-build',
  'put-put',
  'rebuild-rebuild',
  'build-deleted',
] as const;

async function addRepositories(): Promise<void> {
  const locations = Map.groupBy(cells, locationOf);
  await Promise.all(
    [...locations].map(async ([location, its]) => {
      const isEndless = ({ column }: TableCell) => column === 'building';
      const quick = its.filter((cell) => !isEndless(cell)).map(branchOf);
      const [group = '', name = ''] = location.split('.');
      if (name === 'table') quick.push(...lifecycles, ...pairs);
      await world.addRepository(group, name, { quick, endless: its.filter(isEndless).map(branchOf) });
    }),
  );
  await world.changeRepository(`${harness.group}.kept`, { onRefGone: 'keep' });
}

/** Number of cells of each trigger that are not prepared yet. */
const open = new Map<string, { left: number; all: PromiseWithResolvers<undefined> }>();

async function isFirstOfAll(trigger: string): Promise<boolean> {
  const gate = open.get(trigger) ?? { left: COLUMNS.length, all: Promise.withResolvers<undefined>() };
  open.set(trigger, gate);
  gate.left -= 1;
  if (gate.left === 0) gate.all.resolve(undefined);
  await gate.all.promise;
  return gate.left-- === 0;
}

async function live(cell: TableCell): Promise<void> {
  await ready;
  const repositoryId = locationOf(cell);
  const branch = branchOf(cell);
  const id = world.environmentId(repositoryId, branch);
  const before = await prepare(world, cell, id);
  const location = { id, repositoryId, branch, isFirstOfAll: () => isFirstOfAll(cell.trigger) };
  const { code, commit } = (await TRIGGER_PULLS[cell.trigger](world, location)) ?? {};
  if (code !== undefined) expect(code < 300 ? 'taken' : code).toBe(cell.isRefused ? 409 : 'taken');
  await check(world, cell, before, commit);
}

/** Maximum number of builds that both triggers cause; the second one cannot join a build that has ended. */
const buildsOf: Partial<Record<(typeof pairs)[number], number>> = {
  'put-put': 1,
  'rebuild-rebuild': 1,
  'build-build': 2,
};

type Pull = () => Promise<unknown>;

/** Sends two triggers at once. */
async function runsThrough(pair: (typeof pairs)[number]): Promise<void> {
  const id = world.environmentId(`${harness.group}.table`, pair);
  const { board } = world;
  const triggers: Record<typeof pair, [Pull, Pull]> = {
    'rebuild-delete': [() => rest(world, 'POST', id, '/rebuild'), () => rest(world, 'DELETE', id)],
    'delete-create': [() => world.annotate(id, ['delete']), () => world.annotate(id, ['create', 'build'])],
    'build-build': [() => rest(world, 'POST', id, '/build'), () => rest(world, 'POST', id, '/build')],
    'put-put': [() => rest(world, 'PUT', id), () => rest(world, 'PUT', id)],
    'rebuild-rebuild': [() => rest(world, 'POST', id, '/rebuild'), () => rest(world, 'POST', id, '/rebuild')],
    'build-deleted': [() => rest(world, 'POST', id, '/build'), () => board.delete(id)],
  };
  const [first, second] = triggers[pair];
  await board.state(id, 'empty');
  if (pair !== 'put-put') {
    await rest(world, 'PUT', id);
    await board.state(id, 'built');
  }
  const { metadata, status } = board.read(id) ?? {};
  const uid = metadata?.uid;
  // The order of two simultaneous requests is undefined, so the later one is sent a moment later.
  if (pair === 'rebuild-delete' || pair === 'delete-create') await first().then(second);
  else await Promise.all([first(), second()]);
  if (pair === 'build-deleted') {
    await board.until(id, 'gone', (one) => one?.metadata.uid !== uid);
    return;
  }
  const end = pair === 'rebuild-delete' ? 'empty' : 'built';
  const max = buildsOf[pair];
  const buildsIn = (one: ReturnType<typeof board.read>) =>
    (one?.status?.build?.number ?? 0) - (status?.build?.number ?? 0);
  // The board can be behind the accepted requests, and then shows the state before them.
  const isSettled = (one: ReturnType<typeof board.read>) =>
    isSettledAs(end, one) && (max === undefined || buildsIn(one) >= 1);
  const after = await board.until(id, `settled as ${end}`, isSettled);
  if (max !== undefined) expect(buildsIn(after)).toBeLessThanOrEqual(max);
}

/** Runs 20 lifecycles at once: spawn, built, rebuild, deletion. */
async function wholeLifecycles(): Promise<void> {
  const repository = `${harness.group}.table`;
  const from = Date.now();
  const ids = await Promise.all(
    lifecycles.map(async (branch, index) => {
      const { board } = world;
      const id = world.environmentId(repository, branch);
      await board.state(id, 'empty');
      expect(await rest(world, 'PUT', id)).toBe(202);
      await board.state(id, 'built');
      expect(await rest(world, 'POST', id, '/rebuild')).toBe(202);
      await board.until(id, 'rebuilt', (one) => one?.status?.state === 'built' && one.status.build?.noCache === true);
      if (index % 2 === 0) expect(await rest(world, 'POST', id, '/ttl', { ttl: 1 })).toBe(200);
      else expect(await rest(world, 'DELETE', id)).toBe(202);
      await board.state(id, 'empty');
      return id;
    }),
  );
  process.stderr.write(
    `20 environments lived in ${Math.round((Date.now() - from) / 1000)} s, among ${cells.length} cells\n`,
  );
  const left = await Promise.all(ids.map((id) => world.board.namespaceUid(id)));
  expect(left.filter((uid) => uid !== undefined)).toEqual([]);
}

testsSideBySide(
  {
    ...Object.fromEntries(
      cells.map((cell) => {
        const { trigger, column, outcome, isRefused } = cell;
        return [`${trigger}, ${column}: ${outcome}${isRefused ? ' (409)' : ''}`, () => live(cell)];
      }),
    ),
    ...Object.fromEntries(pairs.map((pair) => [`two at once: ${pair}`, () => runsThrough(pair)])),
    '20 whole lifecycles at once': wholeLifecycles,
  },
  240_000,
);
