import { setImmediate as flow } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { FOLLOW_CHANNEL } from '../../../build-logs/follow-request.ts';
import type { Environment } from '../../../crds/environment.ts';
import { silentLogger } from '../../../kubernetes/testing/silent-logger.ts';
import { RuntimeLogs } from './runtime-logs.ts';

/**
 * Sends follow requests for one service of each of these environments, `<namespace>/<name>`; returns the refused
 * ones.
 */
async function refusedOf(wanted: readonly string[], bounds: { maxFollowed?: number; maxFollowedOfGroup?: number }) {
  const refused: string[] = [];
  const logs = new RuntimeLogs({
    ...bounds,
    client: { podLog: () => (async function* () {})() },
    pods: { byIndex: () => [] },
    environments: {
      get: (id) => {
        const [namespace, name] = id.split('/');
        return { metadata: { namespace, name, uid: id } } as unknown as Environment;
      },
    },
    namespaceOf: ({ metadata }) => `env-${metadata.name}`,
    // Groups in upper case were created by one account.
    ownerOf: (group) => ({ group, tenant: /[A-Z]/.test(group) ? 'account' : group }),
    redis: {
      hGetAll: () => Promise.resolve({}),
      evalSha: () => Promise.resolve(1),
      eval: () => Promise.resolve(1),
      expire: () => Promise.resolve(1),
      del: () => Promise.resolve(1),
      exists: () => Promise.resolve(1),
      set: (key) => {
        if (key.includes('refused')) refused.push(key);
        return Promise.resolve('OK');
      },
    },
    now: () => new Date(0),
    logger: silentLogger,
  });
  let report: (message: string) => void = () => undefined;
  logs.start({
    subscribe: (channel, listener) => {
      if (channel === FOLLOW_CHANNEL) report = listener;
      return Promise.resolve();
    },
  });
  for (const environment of wanted) {
    report(JSON.stringify({ environment, uid: environment, service: 'web' }));
    await flow();
  }
  logs.stop();
  return wanted.filter((environment) => refused.some((key) => key.includes(`{${environment}/`)));
}

const many = (group: string, count: number) =>
  Array.from({ length: count }, (_, index) => `group-${group}/${group}-${index}`);

test('leaves slots to other groups when one reads many logs', async () => {
  expect(await refusedOf([...many('a', 45), ...many('b', 3)], {})).toEqual(many('a', 45).slice(40));
});

test('leaves slots to other accounts when one reads many logs in all its groups', async () => {
  const wanted = [...many('A', 40), ...many('B', 40), ...many('C', 25), ...many('d', 3)];
  expect(await refusedOf(wanted, {})).toEqual(many('C', 25).slice(20));
});

test('limits the slots of all groups together', async () => {
  const wanted = [...many('a', 3), ...many('b', 3)];
  expect(await refusedOf(wanted, { maxFollowed: 5, maxFollowedOfGroup: 4 })).toEqual(['group-b/b-2']);
});
