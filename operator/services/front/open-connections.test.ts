import { expect, test } from '@jest/globals';
import { LABELS } from '../../../crds/labels.ts';
import type { Pod } from '../../../kubernetes/resource-type.ts';
import { WATCHER_NAME } from '../objects/connection-watcher.ts';
import { OpenConnections, type Connections } from './open-connections.ts';

const podOf = (name: string, ...addresses: string[]): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'env-shop--acme', labels: { [LABELS.service]: name } },
  spec: { containers: [{ name: WATCHER_NAME }] },
  status: { podIPs: addresses.map((ip) => ({ ip })) },
});

/** Returns what is reported when the watcher of a pod reports this line, beside a pod of the environment with these addresses. */
function connections(line: string | undefined, ...addresses: string[]): Promise<Connections> {
  const pods = [podOf('web', '10.244.1.4', 'fd00::4'), { ...podOf('worker', ...addresses), spec: { containers: [] } }];
  const client = {
    async *podLog() {
      if (line === undefined) throw new Error('the pod is gone');
      yield await Promise.resolve(line);
    },
  };
  const logger = { debug: () => undefined };
  return new OpenConnections({ client, pods: { byIndex: () => pods }, logger }).of('env-shop--acme');
}

const ipv4 = '0501F40A';
const ipv6 = '000000FD000000000000000005000000';

test.each<[string, string | undefined, string[], Connections]>([
  ['nobody', 'connected: ', [], 'none'],
  ['a visitor by IPv4', `connected: ${ipv4} `, [], 'open'],
  ['a visitor by IPv6', `connected: ${ipv6} `, [], 'open'],
  ['its own pod by IPv4', `connected: ${ipv4} `, ['10.244.1.5'], 'none'],
  ['its own pod by the second family', `connected: ${ipv6} `, ['10.244.1.5', 'fd00::5'], 'none'],
  ['its own pod by IPv6 only', `connected: ${ipv6} `, ['fd00::5'], 'none'],
  ['a log that cannot be read', undefined, [], 'unknown'],
])('finds %s', async (_who, line, addresses, expected) => {
  expect(await connections(line, ...addresses)).toBe(expected);
});
