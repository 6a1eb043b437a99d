// Stores pulled images, as a machine does that has built its node image and reaches a registry only later. The store must
// then have them as if they were built locally.
import { storeBaseImages } from '../cluster/images/base-images.ts';
import { runMain, startProgress } from '../support/progress.ts';

await runMain(async () => {
  await storeBaseImages(['busybox', 'registry'], startProgress());
});
