import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LABELS } from '../../crds/labels.ts';
import { githubDelivery } from '../client/github-delivery.ts';
import { send } from '../client/local-http.ts';
import { webhookOf } from '../client/webhook-of.ts';
import { withCleanUp } from '../support/clean-up.ts';
import { startHarness, type Harness } from '../end-to-end/harness.ts';
import { pushRepository } from '../sample/push-repository.ts';
import { applicationFiles, writeChanged, type ApplicationFiles } from './application-files.ts';
import type { DockerCompose } from './docker-compose.ts';
import type { EnvironmentWatch } from './environment-watch.ts';
import { firstAnswer } from './first-answer.ts';
import { secondsOf } from './measure.ts';
import { BUILDER_NAMESPACE } from './observed-cluster.ts';

export interface Application {
  /** Name of its folder. */
  name: string;
  title: string;
  /** Port of its container. */
  port: number;
}

/** Duration of each step in seconds. */
export interface Round {
  first: number;
  changed: number;
  dependency: number;
  unchanged: number;
  branch: number;
}

export interface Bench {
  compose: DockerCompose;
  watch: EnvironmentWatch;
  packages: { address: string; port: number };
}

/** Maximum seconds of a first build beside other work on two cores. */
const answerSeconds = 400;
const sourceText = { first: 'The first text', changed: 'A changed text', dependency: 'One more dependency' };

interface Versions {
  first: ApplicationFiles;
  changed: ApplicationFiles;
  dependency: ApplicationFiles;
}

function versionsOf({ packages }: Bench, { name }: Application, round: string): Versions {
  const files = (text: string, hasDependency = false) =>
    applicationFiles({ application: name, text, hasDependency, round, packages });
  return {
    first: files(sourceText.first),
    changed: files(sourceText.changed),
    dependency: files(sourceText.dependency, true),
  };
}

/** Measures Docker Compose in a folder that a developer changes. */
export async function composeRound(bench: Bench, application: Application, round: string): Promise<Round> {
  const { first, changed, dependency } = versionsOf(bench, application, `${round}-compose`);
  const folder = await mkdtemp(join(tmpdir(), 'coppice-bench-'));
  const project = await bench.compose.project(round, application.port);
  const branch = await bench.compose.project(`${round}-branch`, application.port);
  const up = (text: string, one = project) =>
    secondsOf(async () => {
      await one.up(folder);
      await firstAnswer(one.url, text, answerSeconds);
    });
  const work = async (): Promise<Round> => {
    await writeChanged(folder, first);
    const seconds = { first: await up(sourceText.first) };
    await writeChanged(folder, changed, first);
    const withChange = { ...seconds, changed: await up(sourceText.changed) };
    await writeChanged(folder, dependency, changed);
    return {
      ...withChange,
      dependency: await up(sourceText.dependency),
      unchanged: await up(sourceText.dependency),
      branch: await up(sourceText.dependency, branch),
    };
  };
  return withCleanUp(work, async () => {
    await project.remove();
    await branch.remove();
    await rm(folder, { recursive: true, force: true });
  });
}

/** Measures Coppice with a group of its own, whose builder has no cache. */
export async function coppiceRound(bench: Bench, application: Application, round: string): Promise<Round> {
  const harness = await startHarness('bench');
  const work = async () => {
    await admitPackages(harness, bench);
    return measureCoppice(bench, harness, application, round);
  };
  return withCleanUp(work, async () => {
    await harness.kubectl(['-n', BUILDER_NAMESPACE, 'delete', 'networkpolicy', policyName(harness)]);
    await harness.removeAndWait();
  });
}

async function measureCoppice(bench: Bench, harness: Harness, application: Application, round: string): Promise<Round> {
  const { first, changed, dependency } = versionsOf(bench, application, `${round}-coppice`);
  const { client, connection, group } = harness;
  const url = `${connection.gitUrl}/${group}/${application.name}.git`;
  const push = (files: ApplicationFiles, ref = 'refs/heads/main') =>
    pushRepository({ url, branch: 'main', ref, files });
  await push(first);
  const repository = await harness.addRepository(application.name, url);
  const webhook = await webhookOf(client, repository);
  const spawn = async (branch: string, text: string) => {
    const start = performance.now();
    const id = await harness.spawn(repository, branch);
    const { weburl } = await client.environment(id);
    await firstAnswer(weburl, text, answerSeconds);
    return { id, weburl, seconds: (performance.now() - start) / 1000 };
  };
  const main = await spawn('main', sourceText.first);
  await bench.watch.buildEnded(main.id, 1, answerSeconds);
  const deliver = async (files: ApplicationFiles, text: string, build: number) => {
    const after = await push(files);
    const delivery = githubDelivery(webhook.secret, 'push', { ref: 'refs/heads/main', after });
    const seconds = await secondsOf(async () => {
      const { status, text: answer } = await send(webhook.url, delivery);
      if (status !== 202) throw new Error(`${webhook.url}: ${status} ${answer}`);
      await firstAnswer(main.weburl, text, answerSeconds);
    });
    await bench.watch.buildEnded(main.id, build, answerSeconds);
    return seconds;
  };
  const seconds = {
    first: main.seconds,
    changed: await deliver(changed, sourceText.changed, 2),
    dependency: await deliver(dependency, sourceText.dependency, 3),
  };
  const unchanged = await secondsOf(async () => {
    const { status, text } = await client.send('POST', `/api/environment/${main.id}/build`);
    if (status !== 202) throw new Error(`build of ${main.id}: ${status} ${text}`);
    await bench.watch.buildEnded(main.id, 4, answerSeconds);
  });
  await push(dependency, 'refs/heads/branch');
  const branch = await spawn('branch', sourceText.dependency);
  return { ...seconds, unchanged, branch: branch.seconds };
}

const policyName = ({ group }: Harness) => `packages-${group}`;

/** Permits the group's builder to connect to the package cache, as `builder.privateEgress` does for every builder. */
async function admitPackages(harness: Harness, { packages: { address, port } }: Bench): Promise<void> {
  const policy = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: policyName(harness), namespace: BUILDER_NAMESPACE },
    spec: {
      podSelector: { matchLabels: { [LABELS.group]: harness.group } },
      policyTypes: ['Egress'],
      egress: [{ to: [{ ipBlock: { cidr: `${address}/32` } }], ports: [{ protocol: 'TCP', port }] }],
    },
  };
  await harness.kubectl(['apply', '--filename', '-'], { input: JSON.stringify(policy) });
}
