// Runs the end-to-end tests that need several nodes on a cluster of a control plane and two workers.
import { testOnOwnCluster } from '../cluster/own-cluster.ts';
import { runMain } from '../support/progress.ts';

await runMain(() =>
  testOnOwnCluster({
    namespace: 'coppice-nodes',
    links: ['coppice-n-out', 'coppice-n-in'],
    addresses: ['172.31.255.5', '172.31.255.6'],
    up: ['--nodes', '3'],
    project: 'end-to-end-nodes',
    jest: process.argv.slice(2),
  }),
);
