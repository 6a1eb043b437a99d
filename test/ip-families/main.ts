// `main.ts dual|ipv6 [ARGUMENT OF JEST…]` runs the end-to-end tests of IPv6 on a cluster whose pods and Services have
// addresses of both families, or of IPv6 only.
import { testOnOwnCluster } from '../cluster/own-cluster.ts';
import { Problem } from '../support/problem.ts';
import { runMain } from '../support/progress.ts';

const families = { dual: 'IPv4,IPv6', ipv6: 'IPv6' };

await runMain(() => {
  const [chosen, ...jest] = process.argv.slice(2);
  if (chosen !== 'dual' && chosen !== 'ipv6') throw new Problem('test/ip-families/main.ts dual|ipv6');
  return testOnOwnCluster({
    namespace: 'coppice-families',
    links: ['coppice-d-out', 'coppice-d-in'],
    addresses: ['172.31.255.9', '172.31.255.10'],
    up: ['--ip-family', chosen],
    project: 'end-to-end-ip-families',
    jest,
    env: { COPPICE_TEST_IP_FAMILIES: families[chosen] },
  });
});
