import { githubDelivery } from '../client/github-delivery.ts';
import { send } from '../client/local-http.ts';
import { webhookOf, type WebhookAnswer } from '../client/webhook-of.ts';
import { withCleanUp } from '../support/clean-up.ts';
import type { Progress } from '../support/progress.ts';
import { namespaceOf, type Harness } from '../end-to-end/harness.ts';
import { withBaseline } from './bench-cluster.ts';
import { logOf, pulled } from './build-rounds.ts';
import { pushStagesOf, stageFigures } from './build-stages.ts';
import { EnvironmentWatch } from './environment-watch.ts';
import { firstAnswer } from './first-answer.ts';
import { floorRound } from './floor-round.ts';
import type { Figure } from './measure.ts';
import { ObservedCluster } from './observed-cluster.ts';
import { pushWeb } from './web-repository.ts';

const rounds = 7;
const what = 'push';

interface PushedEnvironment {
  harness: Harness;
  watch: EnvironmentWatch;
  id: string;
  weburl: string;
  origin: string;
  webhook: WebhookAnswer;
}

/**
 * Measures a push to the branch of a running environment, from the delivery to the page of the new commit, against git
 * with buildctl.
 */
export function benchPush(progress: Progress): Promise<Figure[]> {
  return withBaseline(progress, async ({ harness, raw }) => {
    const cluster = new ObservedCluster(harness.connection.kubeconfig);
    const watch = new EnvironmentWatch(cluster.client);
    const pushes: { seconds: number; stages: Record<string, number> }[] = [];
    const floor: number[] = [];
    const work = async () => {
      await watch.start();
      const environment = await progress.step('an environment, and one push to warm the caches', async () => {
        const first = await spawnFirst(harness, watch);
        await pushRound(first, 'warm', 2);
        await floorRound(harness, raw, first.origin, 'warm-floor');
        return first;
      });
      for (let round = 1; round <= rounds; round++) {
        await progress.step(`round ${round} of ${rounds}`, async () => {
          pushes.push(await pushRound(environment, `round ${round}`, round + 2));
          floor.push(await floorRound(harness, raw, environment.origin, `floor-${round}`));
        });
      }
    };
    await withCleanUp(work, async () => {
      await watch.stop();
      cluster.close();
    });
    return [
      {
        name: `${what}: delivery → page`,
        unit: 's',
        samples: pushes.map(({ seconds }) => seconds),
        baseline: { name: 'git and buildctl, no pods', samples: floor },
        target: '≤ 1.5 ×',
      },
      ...stageFigures(
        what,
        pushes.map(({ stages }) => stages),
      ),
    ];
  });
}

async function spawnFirst(harness: Harness, watch: EnvironmentWatch): Promise<PushedEnvironment> {
  const origin = `${harness.connection.gitUrl}/${harness.group}/web.git`;
  await pushWeb(origin, 'main', 'first');
  const repository = await harness.addRepository('web', origin);
  const id = await harness.spawn(repository, 'main');
  await watch.buildEnded(id, 1, 180);
  const { weburl } = await harness.client.environment(id);
  return { harness, watch, id, weburl, origin, webhook: await webhookOf(harness.client, repository) };
}

async function pushRound(
  { harness, watch, id, weburl, origin, webhook }: PushedEnvironment,
  text: string,
  build: number,
) {
  // The kubelet's events of this round only.
  await harness.kubectl(['-n', namespaceOf(id), 'delete', 'events', '--all']);
  const after = await pushWeb(origin, 'main', text);
  const delivery = githubDelivery(webhook.secret, 'push', { ref: 'refs/heads/main', after });
  const sent = Date.now();
  const start = performance.now();
  const since = () => performance.now() - start;
  const { status } = await send(webhook.url, delivery);
  const takenMs = since();
  if (status !== 202) throw new Error(`${webhook.url}: ${status}`);
  await firstAnswer(weburl, text, 180);
  const answeredMs = since();
  await watch.buildEnded(id, build, 180);
  const stages = pushStagesOf(await logOf(harness, id), {
    sent,
    taken: sent + takenMs,
    answered: sent + answeredMs,
    pulledSeconds: await pulled(harness, id),
  });
  return { seconds: answeredMs / 1000, stages };
}
