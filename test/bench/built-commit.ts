import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Progress } from '../support/progress.ts';
import { objectOf } from '../client/object-of.ts';
import { namespaceOf, type Harness } from '../end-to-end/harness.ts';
import { addressOf, withBaseline } from './bench-cluster.ts';
import { logOf, pulled, type Round } from './build-rounds.ts';
import { shortStagesOf, stageFigures } from './build-stages.ts';
import { watchingContents } from './contents-watch.ts';
import { firstAnswer } from './first-answer.ts';
import type { Figure } from './measure.ts';
import type { RawCluster } from './raw-cluster.ts';
import { namespaceObjects, serviceObjects } from './raw-objects.ts';
import { stateReached } from './state-reached.ts';
import { pushWeb } from './web-repository.ts';

const rounds = 7;

const deploymentSchema = z.looseObject({
  spec: z.looseObject({
    template: z.looseObject({ spec: z.looseObject({ containers: z.array(z.looseObject({ image: z.string() })) }) }),
  }),
});

/**
 * Measures a commit whose images are in the registry from spawn to the first response, against a plain server-side
 * apply.
 */
export function benchBuiltCommit(progress: Progress): Promise<Figure[]> {
  return withBaseline(progress, async ({ harness, raw }) => {
    const coppice: (Round & { stages: ReturnType<typeof shortStagesOf> })[] = [];
    const script: number[] = [];
    const origin = `${harness.connection.gitUrl}/${harness.group}/web.git`;
    await pushWeb(origin, 'main', 'the same');
    const repository = await harness.addRepository('web', origin);
    const image = await progress.step('build the commit once', async () => {
      const built = await buildOnce(harness, repository);
      // The script has a password, and no tokens, for the registry.
      return built.replace(harness.connection.registry, raw.registry);
    });
    for (let round = 1; round <= rounds; round++) {
      await progress.step(`round ${round} of ${rounds}`, async () => {
        coppice.push(await spawnAgain(harness, repository));
        script.push(await applyAgain(harness, raw, image));
      });
    }
    const what = 'commit already built';
    return [
      { name: `${what}: spawn → built`, unit: 's', samples: coppice.map(({ built }) => built) },
      {
        name: `${what}: spawn → first answer`,
        unit: 's',
        samples: coppice.map(({ answered }) => answered),
        baseline: { name: 'server-side apply → first answer', samples: script },
        target: '≤ 1.3 ×',
      },
      ...stageFigures(
        what,
        coppice.map(({ stages }) => stages),
      ),
    ];
  });
}

/** Builds the commit once; returns the service's image by digest. */
async function buildOnce(harness: Harness, repository: string): Promise<string> {
  const id = await harness.spawn(repository, 'main');
  await stateReached(harness.connection.kubeconfig)(id, 'built');
  const json = await harness.kubectl(['-n', namespaceOf(id), 'get', 'deployment', 'web', '-o', 'json']);
  return deploymentSchema.parse(JSON.parse(json)).spec.template.spec.containers[0]?.image ?? '';
}

function spawnAgain(harness: Harness, repository: string) {
  return watchingContents(harness, async (moments) => {
    const reached = stateReached(harness.connection.kubeconfig);
    const asked = Date.now();
    const start = performance.now();
    const seconds = () => (performance.now() - start) / 1000;
    const id = await harness.spawn(repository, 'main');
    const { weburl } = await harness.client.environment(id);
    const [built, answered] = await Promise.all([
      reached(id, 'built').then(seconds),
      firstAnswer(weburl, 'the same').then(seconds),
    ]);
    const stages = shortStagesOf(await logOf(harness, id), {
      asked,
      moments: moments.of(id),
      answered: asked + answered * 1000,
      pulledSeconds: await pulled(harness, id),
    });
    const { namespace, name } = objectOf(id);
    await harness.kubectl(['-n', namespace, 'delete', 'environments.coppice.dev', name]);
    return { built, answered, stages };
  });
}

async function applyAgain(harness: Harness, raw: RawCluster, image: string): Promise<number> {
  const namespace = `${raw.namespace}-${randomUUID().slice(0, 6)}`;
  const host = `${namespace}.${raw.environmentsDomain}`;
  const start = performance.now();
  await raw.apply(namespaceObjects(raw, namespace));
  await raw.apply(serviceObjects(raw, { namespace, name: 'web', image, host }));
  await firstAnswer(addressOf(harness, host), 'the same');
  const seconds = (performance.now() - start) / 1000;
  await harness.kubectl(['delete', 'namespace', namespace, '--timeout=60s'], { deadline: 70 });
  return seconds;
}
