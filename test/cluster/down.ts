import { existsSync, rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { engineAnswers, ensureDockerEngine, startedHere, stopDockerEngine } from './docker-engine.ts';
import { removeMadeImages } from './docker.ts';
import { exclusively } from './exclusively.ts';
import { deleteKindCluster } from './kind-cluster.ts';
import { cacheFolder, localFolder } from './paths.ts';
import { runMain, startProgress } from './progress.ts';
import { removeRegistry } from './registry.ts';
import { tryRun } from './run.ts';

/** Takes away what `npm run up` made; the caches stay unless --caches is given. */
await runMain(async () => {
  const { values } = parseArgs({ options: { caches: { type: 'boolean' } } });
  const progress = startProgress();
  await exclusively(progress, async () => {
    // A dockerd of ours that was killed left the containers on the disk: it is needed once more to remove them.
    if (startedHere() && !(await engineAnswers()))
      await progress.step('start Docker Engine to clean up', ensureDockerEngine);
    if (await engineAnswers()) {
      await progress.step('remove the cluster', deleteKindCluster);
      await progress.step('remove the registry and its volume', removeRegistry);
      await tryRun('docker', ['network', 'rm', 'kind']); // refused, rightly, while another cluster of kind's uses it
      if (values.caches) await progress.step('remove the images that were made here', removeMadeImages);
    }
    await progress.step('stop Docker Engine, if it was started here', stopDockerEngine);
    if (existsSync(localFolder)) rmSync(localFolder, { recursive: true });
    if (values.caches) rmSync(cacheFolder, { recursive: true, force: true });
  });
});
