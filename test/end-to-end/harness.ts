import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { send } from '../client/local-http.ts';
import { RestClient, type EnvironmentAnswer } from '../client/rest-client.ts';
import { readConnection, type Connection } from '../cluster/connection.ts';
import { programsFolder } from '../cluster/paths.ts';
import { run, type RunOptions } from '../cluster/run.ts';
import { waitFor } from '../cluster/wait-for.ts';
import { pushRepository, sampleRepository } from '../sample/push-repository.ts';

const idSchema = z.looseObject({ id: z.string() });

/** What every end-to-end test begins with: a user and a group of their own, on the cluster that is up. */
export interface Harness {
  connection: Connection;
  client: RestClient;
  /** Registers one more user, who has nothing to do with the first. */
  newUser(): Promise<RestClient>;
  group: string;
  /** Pushes a branch of `repository` and gives the URL of the repository. */
  push(repository: string, branch: string, files?: Record<string, string>): Promise<string>;
  addRepository(name: string, origin: string): Promise<string>;
  /** Spawns a branch; gives the environment's id. */
  spawn(repositoryId: string, branch: string, options?: object): Promise<string>;
  built(environmentId: string): Promise<EnvironmentAnswer>;
  stalled(environmentId: string): Promise<EnvironmentAnswer>;
  /** The last message of the build's log. */
  endOfLog(environmentId: string): Promise<unknown>;
  kubectl(args: readonly string[], options?: RunOptions): Promise<string>;
  /** Takes away the users' groups and everything in them. */
  remove(): Promise<void>;
}

export function randomName(prefix: string): string {
  return `${prefix}-${randomBytes(3).toString('hex')}`;
}

export async function startHarness(purpose: string): Promise<Harness> {
  const connection = readConnection();
  const clients: RestClient[] = [];
  const newUser = async () => {
    const user = new RestClient(connection.apiUrl);
    await user.registerAndLogin(`${randomName(purpose)}@example.com`, randomBytes(12).toString('base64url'));
    clients.push(user);
    return user;
  };
  const client = await newUser();
  const group = randomName(purpose);
  await client.call(idSchema, 'POST', '/api/groups', { name: group });
  const kubectl: Harness['kubectl'] = (args, options) =>
    run('kubectl', ['--kubeconfig', connection.kubeconfig, ...args], {
      env: { PATH: `${programsFolder}:${process.env['PATH'] ?? ''}` },
      ...options,
    });
  return {
    connection,
    client,
    newUser,
    group,
    kubectl,
    async push(repository, branch, files = {}) {
      const url = `${connection.gitUrl}/${group}/${repository}.git`;
      await pushRepository({ url, branch, from: sampleRepository, files });
      return url;
    },
    async addRepository(name, origin) {
      const body = { name, type: 'generic', params: { origin } };
      return (await client.call(idSchema, 'POST', `/api/group/${group}`, body)).id;
    },
    async spawn(repositoryId, branch, options = {}) {
      const body = { gitRef: { name: branch, type: 'branch' }, ...options };
      return (await client.call(idSchema, 'POST', `/api/repository/${repositoryId}/spawn`, body)).id;
    },
    built: (environmentId) => client.waitForEnvironment(environmentId, ({ status }) => status === 'built'),
    stalled: (environmentId) => client.waitForEnvironment(environmentId, isStalled, 120),
    async endOfLog(environmentId) {
      let last: unknown;
      for await (const message of client.log(environmentId)) last = message;
      return last;
    },
    async remove() {
      const lists = clients.map((user) => user.call(z.array(idSchema), 'GET', '/api/groups'));
      const groups = (await Promise.all(lists)).flat().map(({ id }) => id);
      await kubectl(['delete', 'groups.coppice.dev', ...groups, '--ignore-not-found', '--timeout=120s'], {
        deadline: 150,
      });
    },
  };
}

/** The namespace of an environment. */
export function namespaceOf(environmentId: string): string {
  const [group = '', name = ''] = environmentId.split('.');
  return `env-${name}--${group}`;
}

/** Opens a page until it holds the text; gives all of it. */
export async function pageWith(weburl: string, text: string, seconds = 30): Promise<string> {
  return waitFor(`${weburl} to hold ${JSON.stringify(text)}`, seconds, async () => {
    const answer = await send(weburl);
    if (answer.status === 200 && answer.text.includes(text)) return answer.text;
    throw new Error(`it answered ${answer.status}: ${answer.text.slice(0, 200)}`);
  });
}

/** The condition of this type, as the API tells it. */
export function conditionOf(environment: EnvironmentAnswer, type: string) {
  return environment.conditions?.find((condition) => condition.type === type);
}

function isStalled(environment: EnvironmentAnswer): boolean {
  return conditionOf(environment, 'Stalled')?.status === 'True';
}
