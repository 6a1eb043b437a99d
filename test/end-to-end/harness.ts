import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { send, type Answer } from '../client/local-http.ts';
import { RestClient, type EnvironmentAnswer } from '../client/rest-client.ts';
import { readConnection, type Connection } from '../cluster/connection.ts';
import { kubectlOf, type Kubectl } from '../cluster/kubectl.ts';
import { waitFor } from '../support/wait-for.ts';
import { pushRepository, SAMPLE_REPOSITORY } from '../sample/push-repository.ts';
import { testAddress } from './test-account.ts';

const idSchema = z.looseObject({ id: z.string() });

/** The start of every end-to-end test: a separate user and group on the running cluster. */
export interface Harness {
  connection: Connection;
  client: RestClient;
  /** Registers another, unrelated user. */
  newUser(password?: string): Promise<RestClient>;
  group: string;
  /** Adds another group of the first user. */
  addGroup(name: string): Promise<void>;
  /** Pushes a branch of `repository`; returns the repository's URL. */
  push(repository: string, branch: string, files?: Record<string, string>): Promise<string>;
  /** Adds a repository with this body of POST /api/group/{id}; returns its ID. */
  register(repository: object): Promise<string>;
  addRepository(name: string, origin: string): Promise<string>;
  /** Synchronizes with the refs at the Git host; throws if that is refused. */
  sync(repositoryId: string): Promise<void>;
  /** Spawns a branch; returns the environment's ID. */
  spawn(repositoryId: string, branch: string, options?: object): Promise<string>;
  built(environmentId: string): Promise<EnvironmentAnswer>;
  stalled(environmentId: string): Promise<EnvironmentAnswer>;
  /** Returns the last message of the build's log. */
  endOfLog(environmentId: string): Promise<unknown>;
  kubectl: Kubectl;
  /** Returns the users' groups, without those of other tests. */
  groups(): Promise<string[]>;
  /** Starts to delete the users' groups and everything in them; `npm test` waits for it after all tests. */
  remove(): Promise<void>;
  /** Like remove, and waits until everything is gone. */
  removeAndWait(): Promise<void>;
}

export function randomName(prefix: string): string {
  return `${prefix}-${randomBytes(3).toString('hex')}`;
}

/** How long a failed build can be the newest one, in milliseconds: a push that repairs it may be under way. */
const repairMs = 60_000;

/** Returns a function that throws once a failed build has been the newest one for a minute. */
function withoutLastingFailure(): (environment: EnvironmentAnswer) => void {
  let since: number | undefined;
  return (environment) => {
    const built = conditionOf(environment, 'Built');
    const hasFailed = environment.status === 'created' && built?.status === 'False';
    since = hasFailed ? (since ?? Date.now()) : undefined;
    if (since !== undefined && Date.now() - since > repairMs)
      throw new Error(`it is not built: ${built?.message ?? ''}`);
  };
}

/** Refusals that pass without a change. */
const passing = /did not respond within 10 s|Coppice retries this|is still being deleted/;

export async function startHarness(purpose: string): Promise<Harness> {
  const connection = readConnection();
  const clients: RestClient[] = [];
  const newUser = async (password = randomBytes(12).toString('base64url')) => {
    const user = new RestClient(connection.apiUrl);
    await user.registerAndLogin(testAddress(randomName(purpose)), password);
    clients.push(user);
    return user;
  };
  const client = await newUser();
  const group = randomName(purpose);
  const kubectl = kubectlOf(connection);
  async function addGroup(name: string): Promise<void> {
    await client.call(idSchema, 'POST', '/api/groups', { name });
  }
  await addGroup(group);
  /**
   * Adds a repository. On a busy machine, repeats it after a 503 while the group's namespace is being set up, and after
   * a failed or late answer of the Git host, once the Repository that this refused is gone.
   */
  async function register(repository: object): Promise<string> {
    const path = `/api/group/${group}`;
    const isRefused = ({ status, text }: Answer) => status === 503 || passing.test(text);
    const answer = await client.sendUntilAccepted('POST', path, repository, 90, isRefused);
    if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`);
    return idSchema.parse(JSON.parse(answer.text)).id;
  }
  return {
    connection,
    client,
    newUser,
    group,
    kubectl,
    async push(repository, branch, files = {}) {
      const url = `${connection.gitUrl}/${group}/${repository}.git`;
      await pushRepository({ url, branch, from: SAMPLE_REPOSITORY, files });
      return url;
    },
    addGroup,
    register,
    addRepository: (name, origin) => register({ name, type: 'generic', params: { origin } }),
    async sync(repositoryId) {
      await client.call(idSchema, 'POST', `/api/repository/${repositoryId}/sync`);
    },
    async spawn(repositoryId, branch, options = {}) {
      const body = { gitRef: { name: branch, type: 'branch' }, ...options };
      return (await client.call(idSchema, 'POST', `/api/repository/${repositoryId}/spawn`, body)).id;
    },
    built: (environmentId) =>
      client.waitForEnvironment(environmentId, ({ status }) => status === 'built', 400, withoutLastingFailure()),
    stalled: (environmentId) => client.waitForEnvironment(environmentId, isStalled, 400),
    async endOfLog(environmentId) {
      let last: unknown;
      for await (const message of client.log(environmentId)) last = message;
      return last;
    },
    groups,
    remove: () => deleteGroups(['--wait=false']),
    removeAndWait: () => deleteGroups(['--timeout=120s']),
  };

  async function groups(): Promise<string[]> {
    const lists = clients.map((user) => user.call(z.array(idSchema), 'GET', '/api/groups'));
    // Users see each other's groups when they are members.
    return [...new Set((await Promise.all(lists)).flat().map(({ id }) => id))];
  }

  async function deleteGroups(options: readonly string[]): Promise<void> {
    const args = ['delete', 'groups.coppice.dev', ...(await groups()), '--ignore-not-found', ...options];
    await kubectl(args, { deadline: 150 });
  }
}

/** Returns the namespace of an environment. */
export function namespaceOf(environmentId: string): string {
  const [group = '', name = ''] = environmentId.split('.');
  return `env-${name}--${group}`;
}

/** Opens a page until it contains the text; returns the whole page. */
export async function pageWith(weburl: string, text: string, seconds = 30): Promise<string> {
  return waitFor(`${weburl} to hold ${JSON.stringify(text)}`, seconds, async () => {
    const answer = await send(weburl);
    if (answer.status === 200 && answer.text.includes(text)) return answer.text;
    throw new Error(`it answered ${answer.status}: ${answer.text.slice(0, 200)}`);
  });
}

/** Returns the condition of this type, as the API reports it. */
export function conditionOf(environment: EnvironmentAnswer, type: string) {
  return environment.conditions?.find((condition) => condition.type === type);
}

function isStalled(environment: EnvironmentAnswer): boolean {
  return conditionOf(environment, 'Stalled')?.status === 'True';
}
