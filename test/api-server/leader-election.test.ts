import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { ClusterClient } from '../../kubernetes/client.ts';
import { LeaderElector } from '../../kubernetes/leader-election.ts';
import { Lease } from '../../kubernetes/resource-type.ts';
import { silentLogger } from '../../kubernetes/testing/silent-logger.ts';
import { createNamespace, deleteNamespace, randomName, testClient, testKubeConfig } from './api-server.ts';
import { proxied, type TcpProxy } from './tcp-proxy.ts';

let client: ClusterClient;
let viaProxy: ClusterClient;
let proxy: TcpProxy;
let namespace: string;
const candidates: LeaderElector[] = [];
const times = { leaseDurationMs: 3000, renewDeadlineMs: 2000, retryPeriodMs: 300 };

beforeAll(async () => {
  client = testClient();
  namespace = await createNamespace(client);
  const config = testKubeConfig();
  proxy = await proxied(config);
  viaProxy = new ClusterClient(config);
});

afterAll(async () => {
  await deleteNamespace(client, namespace);
  client.close();
  viaProxy.close();
  await proxy.stop();
});

afterEach(async () => {
  proxy.accept();
  await Promise.all(candidates.splice(0).map((one) => one.stop()));
});

function candidate(name: string, identity: string, through: ClusterClient, onLost: (reason: Error) => void) {
  const options = { client: through, namespace, name, identity, logger: silentLogger, onLost, ...times };
  const elector = new LeaderElector(options);
  candidates.push(elector);
  return elector;
}

const unexpected = (reason: Error) => {
  throw reason;
};

test('lets one lead, and the other as soon as it stops', async () => {
  const name = randomName('handover');
  const one = candidate(name, 'one', client, unexpected);
  const two = candidate(name, 'two', client, unexpected);
  expect(await one.acquire()).toBe(true);
  const second = two.acquire();
  await new Promise((resolve) => setTimeout(resolve, 1000));
  expect(two.isLeader()).toBe(false);
  const stopped = Date.now();
  await one.stop();
  expect(await second).toBe(true);
  expect(Date.now() - stopped).toBeLessThan(2500);
  const { spec } = await client.get(Lease, { namespace, name });
  expect(spec).toMatchObject({ holderIdentity: 'two', leaseDurationSeconds: 3, leaseTransitions: 1 });
  await two.stop();
  expect((await client.get(Lease, { namespace, name })).spec?.holderIdentity).toBe('');
}, 30_000);

test.each(['refuses', 'hangs'])(
  'lets a leader whose network %s give up before the other leads',
  async (how) => {
    const name = randomName('failover');
    const order: string[] = [];
    const lost = Promise.withResolvers<undefined>();
    const one = candidate(name, 'one', viaProxy, () => {
      order.push('one lost it');
      lost.resolve(undefined);
    });
    const two = candidate(name, 'two', client, unexpected);
    expect(await one.acquire()).toBe(true);
    const second = two.acquire().then(() => order.push('two leads'));
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const hanging = setInterval(() => (how === 'hangs' ? proxy.hang() : proxy.refuse()), 20);
    await Promise.all([lost.promise, second]);
    clearInterval(hanging);
    proxy.accept();
    expect(order).toEqual(['one lost it', 'two leads']);
    expect([one.isLeader(), two.isLeader()]).toEqual([false, true]);
    await Promise.all([one.stop(), two.stop()]);
  },
  30_000,
);
