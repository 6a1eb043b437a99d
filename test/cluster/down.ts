import { existsSync, rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { engineAnswers, ensureDockerEngine, startedHere, stopDockerEngine } from './machine/docker-engine.ts';
import { removeLocalImages } from './images/docker.ts';
import { exclusively } from './exclusively.ts';
import { deleteKindCluster } from './kind-cluster.ts';
import { CACHE_FOLDER, LOCAL_FOLDER } from '../support/paths.ts';
import { runMain, startProgress } from '../support/progress.ts';
import { removeRegistries } from './registries/registry-containers.ts';
import { tryRun } from '../support/run.ts';

/** Removes what `npm run up` created; keeps the caches unless --caches is given. */
await runMain(async () => {
  const { values } = parseArgs({ options: { caches: { type: 'boolean' } } });
  const progress = startProgress();
  await exclusively(progress, async () => {
    // If our dockerd was killed, its containers are still on disk, and only a running dockerd can remove them.
    if (startedHere() && !(await engineAnswers()))
      await progress.step('start Docker Engine to clean up', ensureDockerEngine);
    if (await engineAnswers()) {
      await progress.step('remove the cluster', deleteKindCluster);
      await progress.step('remove the registry and its volume', removeRegistries);
      // Fails, as intended, while another kind cluster uses the network.
      await tryRun('docker', ['network', 'rm', 'kind']);
      if (values.caches) await progress.step('remove the images that were built locally', removeLocalImages);
    }
    await progress.step('stop Docker Engine, if it was started here', stopDockerEngine);
    if (existsSync(LOCAL_FOLDER)) rmSync(LOCAL_FOLDER, { recursive: true });
    if (values.caches) rmSync(CACHE_FOLDER, { recursive: true, force: true });
  });
});
