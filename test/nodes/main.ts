// Starts a cluster of a control plane and two workers in a Docker Engine of its own, and runs the end-to-end tests that
// need several nodes. The engine has a network namespace, so the local cluster is not affected.
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { withCleanUp } from '../cluster/clean-up.ts';
import { isDebianRoot } from '../cluster/debian-packages.ts';
import { OwnEngine } from '../cluster/own-engine.ts';
import { CACHE_FOLDER, PROGRAMS_FOLDER } from '../cluster/paths.ts';
import { runMain } from '../cluster/progress.ts';

await runMain(async () => {
  if (!isDebianRoot()) {
    console.log('Skipped: a second Docker Engine takes Debian and root.');
    return;
  }
  mkdirSync(CACHE_FOLDER, { recursive: true });
  const engine = new OwnEngine({
    namespace: 'coppice-nodes',
    links: ['coppice-n-out', 'coppice-n-in'],
    addresses: ['172.31.255.5', '172.31.255.6'],
    folder: mkdtempSync(join(CACHE_FOLDER, 'nodes-')),
  });
  await withCleanUp(
    async () => {
      await engine.addNamespace();
      await engine.startEngine();
      const checkout = await engine.checkOut();
      await engine.run(process.execPath, ['test/cluster/up.ts', '--nodes', '3'], checkout);
      const env = {
        NODE_OPTIONS: '--experimental-vm-modules --disable-warning=ExperimentalWarning',
        COPPICE_TEST_KUBECONFIG: '.local/kubeconfig',
        // Last, since the folder has a program called node.
        PATH: `${process.env['PATH'] ?? ''}:${PROGRAMS_FOLDER}`,
      };
      const jest = ['--selectProjects', 'end-to-end-nodes', '--runInBand', ...process.argv.slice(2)];
      await engine.run(join('node_modules', '.bin', 'jest'), jest, checkout, env);
    },
    () => engine.remove(),
  );
});
