import { expect, test } from '@jest/globals';
import { processorTimeOf } from './processor-time.ts';

const stat = (pid: number, name: string, [user, system, endedUser, endedSystem]: readonly number[]) =>
  `/proc/${pid}/stat:${pid} (${name}) S 1 ${pid} 159 0 -1 4194304 12719 3428 0 1 ${user} ${system} ${endedUser} ${endedSystem} 20 0 13 0 3415522`;
const command = (pid: number, line: string) => `/proc/${pid}/cmdline:${line.replaceAll(' ', '\0')}\0`;

const text = [
  'cpu  5000 100 2000 90000 700 0 300 50 0 0',
  stat(1, 'systemd', [60, 2, 1841, 992]),
  stat(20, 'kube-apiserver', [1000, 500, 0, 0]),
  stat(30, 'node', [200, 100, 300, 50]),
  stat(31, 'a (b) c', [1, 1, 0, 0]),
  stat(40, 'node', [10, 20, 0, 0]),
  stat(41, 'node', [30, 40, 0, 0]),
  command(1, '/sbin/init'),
  command(20, 'kube-apiserver --advertise-address=172.18.0.2'),
  command(30, 'node operator/main.ts'),
  command(31, '/usr/local/bin/traefik --ping=true'),
  command(40, 'node api/main.ts'),
  command(41, 'node api/main.ts'),
].join('\n');

test("adds the time of each component's processes and of their children", () => {
  expect(Object.fromEntries(processorTimeOf(text))).toEqual({
    'API server': 15,
    etcd: 0,
    'controller manager': 0,
    'Ingress controller': 0.02,
    'Git server with its git processes': 0,
    'operator with its git processes': 6.5,
    'API, all replicas': 1,
    'everything else on the machine': 74 - 22.52,
  });
});
