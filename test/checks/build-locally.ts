// Compiles the programs of the tests' cluster, and builds images for it, where they cannot be pulled. The compiler uses
// all processors for minutes, so tests with deadlines start afterwards. `--full` adds the images of Gitea and metrics-server.
import type { ImageName } from '../cluster/images/base-images.ts';
import { exclusively } from '../cluster/exclusively.ts';
import { IMAGE_SOURCE, TESTER_SOURCE } from '../cluster/install-coppice.ts';
import { finishLocalBuild } from '../cluster/images/local-build.ts';
import { FIXTURE_IMAGES } from '../cluster/images/mirror.ts';
import { runMain, startProgress } from '../support/progress.ts';
import { GIT_HOSTS_SOURCE } from '../git-hosts/deploy.ts';
import { GIT_SERVER_SOURCE } from '../git-server/deploy.ts';

const fullRunImages: readonly ImageName[] = process.argv.includes('--full') ? ['gitea', 'metrics-server'] : [];
const baseImages = [...FIXTURE_IMAGES, ...fullRunImages];
const images = [GIT_SERVER_SOURCE, IMAGE_SOURCE, GIT_HOSTS_SOURCE, TESTER_SOURCE];

await runMain(async () => {
  const progress = startProgress();
  await exclusively(progress, () => finishLocalBuild({ baseImages, images }, progress));
});
