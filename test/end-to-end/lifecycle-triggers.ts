import type { Trigger } from '../../operator/kinds/environment/testing/state-table.ts';
import { deleteBranches, pushBranches } from './branches.ts';
import { rest } from './lifecycle-cell.ts';
import { conditionOf } from './lifecycle-conditions.ts';
import { QUICK, type LifecycleWorld } from './lifecycle-world.ts';

/** The branch to which a trigger applies. */
export interface Branch {
  id: string;
  repositoryId: string;
  branch: string;
  /** Resolves when all cells of the trigger are prepared; returns true to the first of them. */
  isFirstOfAll: () => Promise<boolean>;
}

/** The result of a trigger: the REST API's status, or a pushed commit. */
interface Pulled {
  code?: number;
  commit?: string;
}
type Pull = (world: LifecycleWorld, location: Branch) => Promise<Pulled | undefined>;

const rested =
  (method: string, path = '', body?: object): Pull =>
  async (world, { id }) => ({ code: await rest(world, method, id, path, body) });

/** Runs an action without a result. */
const done =
  (pull: (world: LifecycleWorld, location: Branch) => Promise<void>): Pull =>
  async (world, location) => {
    await pull(world, location);
    return undefined;
  };

const longAgo = '2026-01-01T00:00:00Z';

async function branchGoes(world: LifecycleWorld, { repositoryId, branch }: Branch): Promise<void> {
  await deleteBranches(world.urlOf(repositoryId), [branch]);
  await world.sync(repositoryId);
}

/**
 * A time that has passed for every environment, although starts are spread over half an hour, but less than an hour
 * ago. The same for all cells, because a changed schedule counts from then.
 */
const aWhileAgo = new Date(Date.now() - 35 * 60_000).toISOString().slice(11, 16);

export const TRIGGER_PULLS: Record<Trigger, Pull> = {
  'spawn of the same ref': done((world, { id }) => world.spawnBeside(id)),
  PUT: rested('PUT'),
  'PUT without build': rested('PUT', '', { build: false }),
  build: rested('POST', '/build'),
  rebuild: rested('POST', '/rebuild'),
  'GET with build': rested('GET'),
  DELETE: rested('DELETE'),
  'DELETE, others hold the ref': async (world, { id }) => {
    await world.holdRefBeside(id);
    return { code: await rest(world, 'DELETE', id) };
  },
  'end of the TTL': done((world, { id }) => world.annotate(id, ['ttl'], '/1')),
  'end of the TTL, others hold the ref': done(async (world, { id }) => {
    await world.holdRefBeside(id);
    await world.annotate(id, ['ttl'], '/1');
  }),
  'change of the TTL': rested('POST', '/ttl', { ttl: 3600 }),
  'ref gone': done(branchGoes),
  'ref gone, onRefGone keep': done(branchGoes),
  'new commit': async (world, { repositoryId, branch }) => {
    const files = { ...QUICK, 'news.txt': 'A new commit' };
    const commit = await pushBranches(world.urlOf(repositoryId), files, [branch]);
    await world.sync(repositoryId);
    return { commit };
  },
  'scheduled rebuild': done(async (world, { id, repositoryId }) => {
    const scheduledRebuild = { mode: 'all', hour: aWhileAgo, timeZone: 'UTC' };
    await world.post(`/api/repository/${repositoryId}/settings`, { scheduledRebuild });
    await world.board.until(id, 'under the schedule', (one) => one?.status?.schedule !== undefined);
    // Makes it look as if it had existed for long.
    await world.board.backdate(id, longAgo);
    await world.board.patch(id, { metadata: { annotations: { 'coppice.test/look': 'again' } } });
  }),
  'spec.active to false': done((world, { id }) => world.board.patch(id, { spec: { active: false } })),
  'spec.active to true': done((world, { id }) => world.board.patch(id, { spec: { active: true } })),
  'spec.suspend': done(async (world, { id }) => {
    await world.board.patch(id, { spec: { suspend: true } });
    await world.board.until(id, 'suspended', (one) => conditionOf(one, 'Stalled')?.reason === 'Suspended');
    await world.board.patch(id, { spec: { suspend: false } });
  }),
  'kubectl delete': done((world, { id }) => world.board.delete(id)),
  'repository deleted': done(async (world, { repositoryId, isFirstOfAll }) => {
    if (await isFirstOfAll()) await world.harness.client.send('DELETE', `/api/repository/${repositoryId}`);
  }),
  'group deleted': done(async (world, { isFirstOfAll }) => {
    if (await isFirstOfAll()) await world.deleteGroup(world.doomedGroup);
  }),
};
