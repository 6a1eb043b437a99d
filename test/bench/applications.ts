import { join } from 'node:path';
import { withCleanUp } from '../support/clean-up.ts';
import { readConnection } from '../cluster/connection.ts';
import { Problem } from '../support/problem.ts';
import type { Progress } from '../support/progress.ts';
import { run } from '../support/run.ts';
import { randomName } from '../end-to-end/harness.ts';
import { applicationFolder } from './application-files.ts';
import { composeRound, coppiceRound, type Application, type Round } from './application-rounds.ts';
import { findDockerCompose } from './docker-compose.ts';
import { EnvironmentWatch } from './environment-watch.ts';
import type { Figure } from './measure.ts';
import { ObservedCluster } from './observed-cluster.ts';
import { downloadPackages, startPackageCache } from './package-cache.ts';
import { provideImages } from './provide-images.ts';

const rounds = 3;
const images = ['node', 'golang', 'nginx', 'python'] as const;

const applications: readonly Application[] = [
  { name: 'node', title: 'Node', port: 8080 },
  { name: 'python', title: 'Python', port: 8080 },
  { name: 'go', title: 'Go', port: 8080 },
  { name: 'static', title: 'static site', port: 80 },
];

const steps: readonly { name: string; key: keyof Round; target?: string }[] = [
  { name: 'first build', key: 'first' },
  { name: 'one-line change', key: 'changed', target: '≤ 1.2 ×' },
  { name: 'dependency change', key: 'dependency' },
  { name: 'unchanged', key: 'unchanged', target: '≤ 1 ×' },
  { name: 'branch of a built commit', key: 'branch' },
];

/**
 * Measures applications with dependencies from the delivery of a push to the page, against Docker Compose from changed
 * files to the page. Both use the same package cache; neither has a build cache of an earlier round.
 */
export async function benchApplications(progress: Progress): Promise<Figure[]> {
  await provideImages(images, progress);
  const withDependency = (name: string) => [name, `${name}-dependency`].map(applicationFolder);
  const requirements = withDependency('python').map((folder) => join(folder, 'requirements.txt'));
  await downloadPackages({ requirements, modules: withDependency('go') }, progress);
  const address = await clusterGateway();
  const cache = await startPackageCache(address);
  const compose = await findDockerCompose(progress);
  const cluster = new ObservedCluster(readConnection().kubeconfig);
  const watch = new EnvironmentWatch(cluster.client);
  const measured = applications.map((application) => ({ application, coppice: [] as Round[], compose: [] as Round[] }));
  const work = async () => {
    await watch.start();
    const bench = { compose, watch, packages: { address, port: cache.port } };
    for (let round = 0; round <= rounds; round++) {
      for (const each of measured) {
        const { application } = each;
        const name = randomName(`bench-${application.name}`);
        const which = round === 0 ? 'once by Docker Compose, to fill the package cache' : `${round} of ${rounds}`;
        await progress.step(`${application.title}: round ${which}`, async () => {
          const byCompose = await composeRound(bench, application, name);
          if (round === 0) return;
          each.compose.push(byCompose);
          each.coppice.push(await coppiceRound(bench, application, name));
        });
      }
    }
  };
  await withCleanUp(work, async () => {
    await watch.stop();
    cluster.close();
    await Promise.all([cache.stop(), compose.close()]);
  });
  const name = `docker compose ${compose.version} up --build`;
  return measured.flatMap(({ application, coppice, compose: byCompose }) =>
    steps.map(({ name: step, key, target }): Figure => ({
      name: `${application.title}: ${step}`,
      unit: 's',
      samples: coppice.map((round) => round[key]),
      baseline: { name, samples: byCompose.map((round) => round[key]) },
      ...(target !== undefined && { target }),
    })),
  );
}

/** Returns this machine's address in the network of the cluster's node. */
async function clusterGateway(): Promise<string> {
  const format = '{{range .IPAM.Config}}{{.Gateway}} {{end}}';
  const gateways = (await run('docker', ['network', 'inspect', 'kind', '--format', format])).trim().split(/\s+/);
  const address = gateways.find((one) => /^[\d.]+$/.test(one));
  if (address === undefined) throw new Problem('Docker network `kind` has no IPv4 gateway, which packages come from.');
  return address;
}
