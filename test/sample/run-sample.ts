import { z } from 'zod';
import type { BuildLogMessage } from '../../build-logs/message.ts';
import { send } from '../client/local-http.ts';
import { RestClient, type EnvironmentAnswer } from '../client/rest-client.ts';
import type { Cluster } from '../cluster/running-cluster.ts';
import { watchStates } from '../client/watch-states.ts';
import type { Progress } from '../support/progress.ts';
import { waitFor } from '../support/wait-for.ts';
import { pushRepository, SAMPLE_REPOSITORY } from './push-repository.ts';
import { SAMPLE_EMAIL as email, SAMPLE_GROUP as group, samplePassword } from './sample-user.ts';

export interface SampleResult {
  email: string;
  password: string;
  weburl: string;
}

const idSchema = z.looseObject({ id: z.string() });
const repository = 'shop';

/**
 * Runs the main use case as a user would: creates a Git repository, a user and a group, adds the repository, spawns a
 * branch, follows its build log, and opens its page. Existing objects are kept. Builds wait for `ready`.
 */
export async function runSample(
  apiUrl: string,
  gitUrl: string,
  cluster: Pick<Cluster, 'kubeconfig' | 'kubectl' | 'isNew'> & { ready: Promise<unknown> },
  progress: Progress,
): Promise<SampleResult> {
  const password = await progress.step('sample: password', () => samplePassword(cluster));
  const client = new RestClient(apiUrl, 250);
  await progress.step('sample: push the repository', () =>
    pushRepository({ url: `${gitUrl}/sample/shop.git`, branch: 'main', from: SAMPLE_REPOSITORY }),
  );
  await progress.step(`sample: user ${email}`, () => client.registerAndLogin(email, password));
  await progress.step(`sample: group ${group}`, () => unlessThere(client, '/api/groups', { name: group }));
  await progress.step(`sample: repository ${repository}`, () =>
    unlessThere(client, `/api/group/${group}`, {
      name: repository,
      type: 'generic',
      params: { origin: `${gitUrl}/sample/shop.git` },
    }),
  );
  await cluster.ready;
  const id = await spawnUnlessThere(client, cluster.kubeconfig, progress);
  const { weburl } = await client.environment(id);
  await progress.step(`sample: open ${weburl}`, () => openPage(weburl));
  return { email, password, weburl };
}

async function unlessThere(client: RestClient, path: string, body: object): Promise<void> {
  const answer = await client.send('POST', path, body);
  if (answer.status !== 201 && answer.status !== 409) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`);
}

async function spawnUnlessThere(client: RestClient, kubeconfig: string, progress: Progress): Promise<string> {
  const { environments } = await client.call(
    z.looseObject({ environments: z.array(idSchema) }),
    'GET',
    `/api/repository/${group}.${repository}`,
  );
  const [existing] = environments;
  if (existing) {
    await progress.step('sample: the environment', () => client.waitForEnvironment(existing.id, isSettled));
    return existing.id;
  }
  const spawned = await client.call(idSchema, 'POST', `/api/repository/${group}.${repository}/spawn`, {
    gitRef: { name: 'main', type: 'branch' },
  });
  await progress.step('sample: spawn and build the branch main', async () => {
    const watch = watchStates(kubeconfig, spawned.id, (state) => process.stdout.write(`   status: ${state}\n`));
    for await (const message of client.log(spawned.id)) process.stdout.write(`   ${describe(message)}\n`);
    const environment = await client.waitForEnvironment(spawned.id, isSettled, 60);
    watch.stop();
    if (environment.status !== 'built') throw new Error(`it was not built: ${JSON.stringify(environment.conditions)}`);
  });
  return spawned.id;
}

function isSettled({ status, conditions }: EnvironmentAnswer): boolean {
  return status === 'built' || (conditions ?? []).some((one) => one.type === 'Stalled' && one.status === 'True');
}

function describe(message: BuildLogMessage): string {
  if ('end' in message) return `${message.end.result}: ${message.end.message}`;
  return `${message.stage.padEnd(7)} ${message.service.padEnd(4)} ${message.line}`;
}

async function openPage(weburl: string): Promise<void> {
  await waitFor(`${weburl} to answer`, 120, async () => {
    const { status, text } = await send(weburl);
    return status === 200 && text.includes('Hello from the API') ? true : undefined;
  });
}
