import { expect, test } from '@jest/globals';
import type { Environment } from '../../../../crds/environment.ts';
import { Stalled } from '../../../shared/errors.ts';
import { scopeOf } from '../testing/scope.ts';
import { RestrictAccess } from './restrict-access.ts';

async function run(access: Environment['spec']['access'], problem?: string) {
  const done: string[] = [];
  const phase = new RestrictAccess({
    forwardAuth: { problem: () => Promise.resolve(problem) },
    workloads: {
      restrict: (input) => Promise.resolve(void done.push(`restrict ${input.namespace} ${input.access}`)),
      unpublish: (namespace) => Promise.resolve(void done.push(`unpublish ${namespace}`)),
    },
  });
  const environment = {
    metadata: { namespace: 'group-acme', name: 'shop-main', uid: 'u1' },
    spec: { repository: 'shop', gitRef: { name: 'main', type: 'branch' }, access },
  } as Environment;
  return { done, result: await phase.run(scopeOf(environment, () => new Date())) };
}

test('leaves a public environment alone, even if nothing could be restricted', async () => {
  expect(await run('public', 'there is no Traefik')).toEqual({ done: [], result: { status: { access: undefined } } });
});

test('restricts published hosts before anything else', async () => {
  expect(await run('members')).toEqual({
    done: ['restrict env-shop-main--acme members'],
    result: { status: { access: 'members' } },
  });
});

test('makes an environment unreachable whose access cannot be restricted', async () => {
  const { done, result } = await run('password', 'there is no Traefik');
  expect(done).toEqual(['unpublish env-shop-main--acme']);
  expect(result.failure).toBeInstanceOf(Stalled);
  expect(result.failure).toMatchObject({ reason: 'AccessNotEnforced', message: expect.stringContaining('no Traefik') });
});
