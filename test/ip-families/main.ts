// Runs the end-to-end tests of IPv6 on a cluster whose pods and Services have addresses of both families.
import { testOnOwnCluster } from '../cluster/own-cluster.ts';
import { runMain } from '../cluster/progress.ts';

await runMain(() =>
  testOnOwnCluster({
    namespace: 'coppice-dual',
    links: ['coppice-d-out', 'coppice-d-in'],
    addresses: ['172.31.255.9', '172.31.255.10'],
    up: ['--ip-family', 'dual'],
    project: 'end-to-end-ip-families',
  }),
);
