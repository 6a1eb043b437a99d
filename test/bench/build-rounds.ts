import type { BuildLogMessage } from '../../build-logs/message.ts';
import { namespaceOf, type Harness } from '../end-to-end/harness.ts';
import { addressOf } from './bench-cluster.ts';
import { pullSeconds, stageFigures, stagesOf, type Stages } from './build-stages.ts';
import { watchingContents } from './contents-watch.ts';
import { firstAnswer } from './first-answer.ts';
import type { Figure } from './measure.ts';
import type { RawCluster } from './raw-cluster.ts';
import { buildJob, namespaceObjects, serviceObjects } from './raw-objects.ts';
import { stateReached } from './state-reached.ts';

/** Durations in seconds since the request. */
export interface Round {
  built: number;
  answered: number;
}

export type CoppiceRound = Round & { stages: Stages };

/** Returns the figures of Coppice's rounds with the script's as baseline, and of Coppice's stages. */
export function roundFigures(what: string, coppice: readonly CoppiceRound[], script: readonly Round[]): Figure[] {
  const figure = (name: string, key: keyof Round): Figure => ({
    name: `${what}: spawn → ${name}`,
    unit: 's',
    samples: coppice.map((round) => round[key]),
    baseline: { name: 'Job and rollout by a script', samples: script.map((round) => round[key]) },
    target: '≤ 1 ×',
  });
  const stages = coppice.map((round) => round.stages);
  return [figure('built', 'built'), figure('first answer', 'answered'), ...stageFigures(what, stages)];
}

/** Spawns the branch, and deletes the environment when its page shows `text`. */
export function coppiceRound(
  harness: Harness,
  repository: string,
  branch: string,
  text: string,
): Promise<CoppiceRound> {
  return watchingContents(harness, async (moments) => {
    const reached = stateReached(harness.connection.kubeconfig);
    const asked = Date.now();
    const start = performance.now();
    const id = await harness.spawn(repository, branch);
    await reached(id, 'built');
    const built = (performance.now() - start) / 1000;
    await firstAnswer((await harness.client.environment(id)).weburl, text);
    const answeredMs = performance.now() - start;
    const stages = stagesOf(await logOf(harness, id), {
      asked,
      moments: moments.of(id),
      answered: asked + answeredMs,
      pulledSeconds: await pulled(harness, id),
    });
    await harness.client.send('DELETE', `/api/environment/${id}`);
    await reached(id, 'empty');
    return { built, answered: answeredMs / 1000, stages };
  });
}

export async function logOf({ client }: Harness, id: string): Promise<BuildLogMessage[]> {
  const messages: BuildLogMessage[] = [];
  for await (const message of client.log(id)) messages.push(message);
  return messages;
}

/** Returns how long the kubelet took to pull the services' images, in seconds; the slowest counts. */
export async function pulled({ kubectl }: Harness, id: string): Promise<number> {
  const selector = 'reason=Pulled,involvedObject.kind=Pod';
  const format = 'jsonpath={range .items[*]}{.involvedObject.name}{"\\t"}{.message}{"\\n"}{end}';
  const text = await kubectl(['-n', namespaceOf(id), 'get', 'events', '--field-selector', selector, '-o', format]);
  const ofServices = text.split('\n').filter((line) => line !== '' && !line.startsWith('build-'));
  if (ofServices.length === 0) throw new Error(`the kubelet notified of no image for ${id}`);
  return Math.max(...ofServices.map(pullSeconds));
}

export interface ScriptedBranch {
  origin: string;
  branch: string;
  /** Text on the page of the first service. */
  text: string;
  /** Services with the folders that they are built from; the first one is public. */
  services: readonly { name: string; folder: string }[];
}

/** Does the same with a script: a Job that clones and builds, then Deployments, Services and an Ingress. */
export async function scriptRound(harness: Harness, raw: RawCluster, scripted: ScriptedBranch): Promise<Round> {
  const { origin, branch, text, services } = scripted;
  const namespace = `${raw.namespace}-${branch}`;
  const host = `${namespace}.${raw.environmentsDomain}`;
  const images = services.map(({ name, folder }) => ({
    name,
    folder,
    image: `${raw.registry}/bench/${name}:${namespace}`,
  }));
  const { kubectl } = harness;
  const start = performance.now();
  const seconds = () => (performance.now() - start) / 1000;
  await raw.apply(namespaceObjects(raw, namespace));
  await raw.apply([buildJob(raw, { namespace, origin, branch, images })]);
  await kubectl(['-n', namespace, 'wait', 'job/build', '--for=condition=Complete', '--timeout=120s'], {
    deadline: 130,
  });
  const objects = images.map(({ name, image }, index) =>
    serviceObjects(raw, { namespace, name, image, host: index === 0 ? host : undefined }),
  );
  await raw.apply(objects.flat());
  for (const { name } of services) {
    await kubectl(['-n', namespace, 'rollout', 'status', `deployment/${name}`, '--timeout=60s'], { deadline: 70 });
  }
  const built = seconds();
  await firstAnswer(addressOf(harness, host), text);
  const answered = seconds();
  await kubectl(['delete', 'namespace', namespace, '--wait=false']);
  return { built, answered };
}
