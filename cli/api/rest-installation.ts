import type { IncomingMessage } from 'node:http';
import type { BuildLogMessage } from '../../build-logs/message.ts';
import type {
  EnvironmentChange,
  EnvironmentFilter,
  EnvironmentRequest,
  ExecRequest,
  ForwardRequest,
  Installation,
  Kind,
  LogQuery,
  LogReader,
  Variables,
  VariablesOwner,
  WatchedEnvironments,
} from '../installation.ts';
import { environmentPath, groupPath, repositoryPath } from '../paths.ts';
import type { Client, Method } from './client.ts';
import type { Io } from '../io.ts';
import { changes } from './events.ts';
import { execInPod } from './exec.ts';
import { forwardPorts } from './forward.ts';
import { textOf } from './http.ts';
import { listedOf } from './listed-environment.ts';
import { endOfLog, followLog } from './log.ts';
import type {
  BuildView,
  EffectiveVariables,
  EnvironmentPage,
  EnvironmentView,
  GroupItem,
  ListedEnvironment,
  Overview,
  RepositorySettingsView,
  SearchResults,
  SpawnBody,
  SpawnedView,
} from './types.ts';

/** The installation of a server, by its REST API. */
export class RestInstallation implements Installation {
  readonly name: string;
  readonly #client: Client;
  readonly #io: Io;

  constructor(client: Client, io: Io) {
    this.#client = client;
    this.#io = io;
    this.name = client.target.url;
  }

  idInNamespace(): undefined {
    return undefined;
  }

  groups(): Promise<GroupItem[]> {
    return this.#client.get('/api/groups');
  }

  async repositories() {
    const { repositories, truncated } = await this.#client.get<Overview>('/api/overview', { limit: 1 });
    return { repositories, isTruncated: truncated === true };
  }

  async environments(repository: string, { text, ...filter }: EnvironmentFilter): Promise<ListedEnvironment[]> {
    const items: ListedEnvironment[] = [];
    let cursor: string | undefined;
    do {
      const page: EnvironmentPage = await this.#client.get(`${repositoryPath(repository)}/environments`, {
        ...{ limit: 200, cursor, sort: 'name', text, ...filter },
      });
      items.push(...page.items);
      cursor = page.next;
    } while (cursor !== undefined);
    return items;
  }

  environment(id: string, signal?: AbortSignal): Promise<EnvironmentView> {
    return this.#client.get(environmentPath(id), { build: false }, signal);
  }

  async *changes(watched: WatchedEnvironments, signal: AbortSignal): AsyncGenerator<EnvironmentChange> {
    const id = 'id' in watched ? watched.id : undefined;
    let listed = new Set<string>();
    for await (const event of changes(this.#client, signal)) {
      if (event.type === 'ready') continue;
      if (event.type === 'reset') {
        const items = 'id' in watched ? [listedOf(await this.environment(watched.id, signal))] : await watched.list();
        const now = new Set(items.map((item) => item.id));
        for (const item of items) yield { id: item.id, now: item };
        for (const one of listed) if (!now.has(one)) yield { id: one, now: 'deleted' };
        listed = now;
        continue;
      }
      const { change } = event;
      if (change.kind !== 'environment' || (id !== undefined && change.id !== id)) continue;
      yield { id: change.id, now: change.change === 'deleted' ? 'deleted' : change.item };
    }
  }

  build(id: string, request: string | undefined): Promise<BuildView> {
    return this.#client.get(`${environmentPath(id)}/build`, { request });
  }

  spawn(repository: string, body: SpawnBody): Promise<SpawnedView> {
    return this.#client.send('POST', `${repositoryPath(repository)}/spawn`, { body });
  }

  request(id: string, request: EnvironmentRequest): Promise<EnvironmentView> {
    const { name, ...body } = request;
    const [method, path] = endpoints[name];
    return this.#client.send(method, `${environmentPath(id)}${path}`, {
      ...(Object.keys(body).length > 0 && { body }),
    });
  }

  async sync(repository: string): Promise<void> {
    await this.#client.send('POST', `${repositoryPath(repository)}/sync`);
  }

  async variables({ kind, id }: VariablesOwner): Promise<Variables> {
    if (kind === 'environment') return this.#client.get<EffectiveVariables>(`${environmentPath(id)}/variables`);
    const path = kind === 'group' ? groupPath(id) : repositoryPath(id);
    const { variables } = await this.#client.get<Pick<RepositorySettingsView, 'variables'>>(`${path}/settings`);
    return { applies: true, variables };
  }

  exec(id: string, request: ExecRequest): Promise<number> {
    return execInPod(this.#client, this.#io, id, request);
  }

  forward(id: string, request: ForwardRequest): Promise<void> {
    return forwardPorts(this.#client, this.#io, id, request, endOfProcess());
  }

  async readLog(id: string, { service, build, tail, follow }: LogQuery, reader: LogReader): Promise<void> {
    const client = this.#client;
    const path =
      service === undefined
        ? `${environmentPath(id)}/build/logs`
        : `${environmentPath(id)}/services/${encodeURIComponent(service)}/logs`;
    if (follow) {
      const { onMessage, onReconnect } = reader;
      const query = { build, ...(service !== undefined && { tail }) };
      await followLog({ client, path, query, onMessage, onReconnect });
    } else if (service !== undefined) {
      const response = await client.open('GET', path, { query: { tail } });
      const text = await textOf(response).catch((error: unknown) => {
        throw client.lost(error);
      });
      const lines = text.split('\n').filter((line) => line !== '');
      // Not validated: the server that sends it defines its type (docs/reference/rest-api.md).
      for (const line of lines) await reader.onMessage(JSON.parse(line) as BuildLogMessage);
    } else if (tail !== undefined) {
      for (const line of await this.endOfBuildLog(id, build, tail)) await reader.onLine(line);
    } else {
      const response = await client.open('GET', path, { query: { build }, headers: { accept: 'text/plain' } });
      for await (const line of linesOf(client, response)) await reader.onLine(line);
    }
  }

  endOfBuildLog(id: string, build: number | undefined, lines: number): Promise<string[]> {
    return endOfLog(this.#client, id, build, lines);
  }

  async namesNear(kind: Kind, name: string): Promise<string[]> {
    const overview = await this.#client.get<Overview>('/api/overview', { limit: 200 });
    const { groups, repositories, environments } = overview;
    if (kind === 'group') return groups.map(({ id }) => id);
    if (kind === 'repository') return repositories.map(({ id }) => id);
    // The overview has 200 environments at most.
    const likely = repositories.filter(({ id }) => name.startsWith(id)).slice(0, 3);
    const pages = await Promise.all(
      likely.map(({ id }) => this.#client.get<EnvironmentPage>(`${repositoryPath(id)}/environments`, { limit: 200 })),
    );
    return [...environments, ...pages.flatMap(({ items }) => items)].map(({ id }) => id);
  }

  async idsWith(kind: 'repository' | 'environment', text: string, signal: AbortSignal): Promise<string[]> {
    const query = { text: text === '' ? '.' : text, limit: 50 };
    const { results } = await this.#client.get<SearchResults>('/api/search', query, signal);
    return results.filter((result) => result.kind === kind).map(({ item: { id } }) => id);
  }
}

/** Splits a text into lines as it arrives. @throws CliError if the connection is lost */
async function* linesOf(client: Client, response: IncomingMessage): AsyncGenerator<string> {
  let rest = '';
  response.setEncoding('utf8');
  try {
    for await (const chunk of response) {
      const lines = (rest + String(chunk)).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } catch (error) {
    throw client.lost(error);
  }
  if (rest !== '') yield rest;
}

const endpoints: Readonly<Record<EnvironmentRequest['name'], readonly [method: Method, path: string]>> = {
  build: ['POST', '/build'],
  rebuild: ['POST', '/rebuild'],
  create: ['PUT', ''],
  delete: ['DELETE', ''],
  ttl: ['POST', '/ttl'],
  approve: ['POST', '/approve'],
  sleep: ['POST', '/sleep'],
  wake: ['POST', '/wake'],
};

/** Returns a signal for Ctrl-C and SIGTERM, which end a command that otherwise runs forever. */
function endOfProcess(): AbortSignal {
  const ended = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => ended.abort());
  return ended.signal;
}
