// Compiles the programs of the tests' cluster, and builds its images without Go programs, where they cannot be pulled.
// Go uses all processors for minutes, so tests with deadlines start afterwards.
import { buildLocally } from '../cluster/local-build.ts';
import { exclusively } from '../cluster/exclusively.ts';
import { IMAGE_SOURCE, TESTER_SOURCE } from '../cluster/install-coppice.ts';
import { FIXTURE_IMAGES } from '../cluster/mirror.ts';
import { runMain, startProgress } from '../cluster/progress.ts';
import { GIT_HOSTS_SOURCE } from '../git-hosts/deploy.ts';
import { GIT_SERVER_SOURCE } from '../git-server/deploy.ts';

const images = [GIT_SERVER_SOURCE, IMAGE_SOURCE, GIT_HOSTS_SOURCE, TESTER_SOURCE];

await runMain(async () => {
  const progress = startProgress();
  await exclusively(progress, () => buildLocally({ baseImages: FIXTURE_IMAGES, images }, progress));
});
