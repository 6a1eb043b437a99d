import { expect, test } from '@jest/globals';
import { commandLines } from './processor-time.ts';
import { byCores } from './separate-cores.ts';

const command = (pid: number, line: string) => `/proc/${pid}/cmdline:${line.replaceAll(' ', '\0')}\0`;

test("keeps Coppice's processes apart from those that work for any client", () => {
  const lines = commandLines(
    [
      command(1, '/sbin/init'),
      command(20, 'kube-apiserver --advertise-address=172.18.0.2'),
      command(21, 'etcd --data-dir=/var/lib/etcd'),
      command(30, 'node operator/main.ts'),
      command(31, '/usr/local/bin/traefik --ping=true'),
      command(40, 'node api/main.ts'),
      command(41, '/usr/local/bin/node /app/server.ts'),
      command(50, 'valkey-server *:6379'),
    ].join('\n'),
  );
  expect(byCores(lines)).toEqual({ clients: ['30', '40', '41', '50'], others: ['1', '20', '21', '31'] });
});
