import { join } from 'node:path';
import { withCleanUp } from '../support/clean-up.ts';
import { isDebianRoot } from './machine/debian-packages.ts';
import { OwnEngine, type OwnEngineOptions } from './machine/own-engine.ts';
import { PROGRAMS_FOLDER } from '../support/paths.ts';
import { NotRun } from '../support/problem.ts';

export interface OwnClusterOptions extends OwnEngineOptions {
  /** Arguments of `npm run up`. */
  up: readonly string[];
  /** The Jest project whose tests run on the cluster. */
  project: string;
  /** Further arguments of Jest. */
  jest: readonly string[];
  /** Variables for the tests. */
  env?: Readonly<Record<string, string>>;
}

/**
 * Starts a local cluster in a Docker Engine of its own, runs tests on it, and removes both. The engine has a network
 * namespace, so the local cluster is not affected. Throws if a test fails, and NotRun on machines without Debian or root.
 */
export async function testOnOwnCluster({ up, project, jest, env, ...options }: OwnClusterOptions): Promise<void> {
  if (!isDebianRoot()) throw new NotRun('a second Docker Engine needs Debian and root.');
  const engine = new OwnEngine(options);
  await withCleanUp(
    async () => {
      await engine.create();
      await engine.startEngine();
      const checkout = await engine.checkOut();
      await engine.run(process.execPath, ['test/cluster/up.ts', ...up], checkout);
      const variables = {
        ...env,
        COPPICE_TEST_KUBECONFIG: '.local/kubeconfig',
        // Last, since the folder has a program called node.
        PATH: `${process.env['PATH'] ?? ''}:${PROGRAMS_FOLDER}`,
      };
      const args = ['--selectProjects', project, '--runInBand', ...jest];
      await engine.run(join('node_modules', '.bin', 'jest'), args, checkout, variables);
    },
    () => engine.remove(),
  );
}
