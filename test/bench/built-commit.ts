import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Progress } from '../cluster/progress.ts';
import { namespaceOf, type Harness } from '../end-to-end/harness.ts';
import { addressOf, withBaseline } from './bench-cluster.ts';
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

/** A commit whose images are in the registry, from spawn to the first answer; beside a plain server-side apply. */
export function benchBuiltCommit(progress: Progress): Promise<Figure[]> {
  return withBaseline(progress, async ({ harness, raw }) => {
    const samples: number[] = [];
    const baseline: number[] = [];
    const origin = `${harness.connection.gitUrl}/${harness.group}/web.git`;
    await pushWeb(origin, 'main', 'the same');
    const repository = await harness.addRepository('web', origin);
    const image = await progress.step('build the commit once', () => buildOnce(harness, repository));
    for (let round = 1; round <= rounds; round++) {
      await progress.step(`round ${round} of ${rounds}`, async () => {
        samples.push(await spawnAgain(harness, repository));
        baseline.push(await applyAgain(harness, raw, image));
      });
    }
    return [
      {
        name: 'commit already built: spawn → first answer',
        unit: 's',
        samples,
        baseline: { name: 'server-side apply → first answer', samples: baseline },
        target: '≤ 1.3 ×',
      },
    ];
  });
}

/** The image of the service, by digest. */
async function buildOnce(harness: Harness, repository: string): Promise<string> {
  const id = await harness.spawn(repository, 'main');
  await stateReached(harness.connection.kubeconfig)(id, 'built');
  const json = await harness.kubectl(['-n', namespaceOf(id), 'get', 'deployment', 'web', '-o', 'json']);
  return deploymentSchema.parse(JSON.parse(json)).spec.template.spec.containers[0]?.image ?? '';
}

async function spawnAgain(harness: Harness, repository: string): Promise<number> {
  const start = performance.now();
  const id = await harness.spawn(repository, 'main');
  await firstAnswer((await harness.client.environment(id)).weburl, 'the same');
  const seconds = (performance.now() - start) / 1000;
  await harness.kubectl(['-n', `group-${harness.group}`, 'delete', 'environments.coppice.dev', id.split('.')[1] ?? '']);
  return seconds;
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
