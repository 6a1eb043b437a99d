import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import type { Environment } from '../../crds/environment.ts';
import type { TableCell } from '../../operator/kinds/environment/testing/state-table.ts';
import { conditionOf } from './lifecycle-conditions.ts';
import type { LifecycleWorld } from './lifecycle-world.ts';

/** How long a state is watched that must not change, in milliseconds. */
const staysMs = 3000;

/** An Environment in a column's state, and its status then. */
export interface Prepared {
  id: string;
  uid: string | undefined;
  namespaceUid: string | undefined;
  build: number;
}

export async function prepare(world: LifecycleWorld, { trigger, column }: TableCell, id: string): Promise<Prepared> {
  const { board } = world;
  await board.until(id, 'there', (environment) => environment?.status?.state === 'empty');
  if (trigger === 'spec.active to false') await prepareBySpec(world, column, id);
  else if (column !== 'empty') await put(world, id, column === 'building' || column === 'built');
  if (column === 'being removed') {
    await board.state(id, 'created');
    await board.hold(id);
    await rest(world, 'DELETE', id);
    await board.until(id, 'being removed', (one) => conditionOf(one, 'Reconciling')?.reason === 'RemovingContents');
  } else await board.state(id, column);
  const { metadata, status } = board.read(id) ?? {};
  const build = status?.build?.number ?? 0;
  return { id, uid: metadata?.uid, namespaceUid: await board.namespaceUid(id), build };
}

async function prepareBySpec(
  { board, ...world }: LifecycleWorld,
  column: TableCell['column'],
  id: string,
): Promise<void> {
  await board.patch(id, { spec: { active: true, buildOnCreate: column === 'building' || column === 'built' } });
  if (column !== 'empty') return;
  await board.state(id, 'created');
  await world.harness.client.send('DELETE', `/api/environment/${id}`);
}

function put(world: LifecycleWorld, id: string, build: boolean): Promise<number> {
  return rest(world, 'PUT', id, '', { build });
}

/** Sends the request; returns the response's status. */
export async function rest(
  world: LifecycleWorld,
  method: string,
  id: string,
  path = '',
  body?: object,
): Promise<number> {
  return (await world.harness.client.send(method, `/api/environment/${id}${path}`, body)).status;
}

/** Checks the outcome of a trigger. `commit`: the pushed commit. */
export async function check(
  { board }: LifecycleWorld,
  { column, outcome }: TableCell,
  before: Prepared,
  commit: string | undefined,
): Promise<void> {
  const { id, uid, namespaceUid, build } = before;
  const observe = () => {
    const { metadata, status } = board.read(id) ?? {};
    return { uid: metadata?.uid, state: status?.state, build: status?.build?.number ?? 0 };
  };
  const numbered = (number: number) => (one: Environment | undefined) =>
    one?.status?.build?.number === number && one.status.build.result !== 'running' && one.status.state === 'built';
  if (column === 'being removed') await board.release(id);
  switch (outcome) {
    case 'stays':
    case 'joins': {
      await sleep(staysMs);
      expect(observe()).toEqual({ uid, state: column, build });
      expect(await board.namespaceUid(id)).toBe(namespaceUid);
      return;
    }
    case 'created':
      await board.state(id, 'created');
      await sleep(staysMs);
      expect(observe()).toEqual({ uid, state: 'created', build });
      return;
    case 'built':
      await board.until(id, 'built', numbered(build + 1));
      return;
    case 'superseded': {
      const after = await board.until(id, 'superseded', numbered(build + 1));
      expect(after?.status?.build?.commit).toBe(commit);
      return;
    }
    case 'rebuilt': {
      const wanted = column === 'building' ? 'building' : 'built';
      await board.until(
        id,
        'rebuilt',
        (one) =>
          one?.status?.build?.number === build + 1 && one.status.build.noCache === true && one.status.state === wanted,
      );
      expect(await board.namespaceUid(id)).not.toBe(namespaceUid);
      return;
    }
    case 'empty':
      await board.state(id, 'empty');
      await sleep(staysMs);
      expect(observe()).toEqual({ uid, state: 'empty', build });
      expect(await board.namespaceUid(id)).toBeUndefined();
      return;
    case 'gone':
      // A sync may have created another one for the ref since.
      await board.until(id, 'gone', (one) => one?.metadata.uid !== uid);
      expect(await board.namespaceUid(id)).toBeUndefined();
  }
}
