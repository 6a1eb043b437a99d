import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { EventReader } from '../../api/testing/event-reader.ts';
import { githubDelivery } from '../client/github-delivery.ts';
import { localhostLookup, send, type Answer } from '../client/local-http.ts';
import { webhookOf } from '../client/webhook-of.ts';
import { messageOf } from '../support/problem.ts';
import { pageWith, type Harness } from '../end-to-end/harness.ts';
import { pushRepository } from '../sample/push-repository.ts';
import { pushCommits } from './push-commits.ts';

/** The chart's default of `api.requestsPerMinute`. */
const requestsPerMinute = 1200;
const connections = 40;
const deliveriesPerSecond = 20;
const eventStreams = 20;
const logViewers = 20;
/** The group's maximum of concurrent builds. */
const builds = 4;

/** Longer than a build that burns. */
const rebuildEveryMs = 70_000;

/** As many services as fit into one service file without pods. */
const manyServices = `services:\n${Array.from({ length: 40 }, (_, index) => `  s${index}: { image: 'node:24-slim', scale: 0, expose: ['8080'] }`).join('\n')}\n`;
/** A build that uses both processors, and writes as much as it can. */
const burning = {
  'compose.yaml': 'services: { burn: { build: . } }\n',
  Dockerfile: `FROM node:24-slim
RUN timeout 60 sh -c 'while :; do :; done' & timeout 60 yes 'a line of a build that never ends'; true
`,
};
/** Writes as much as it can from the first request on. */
const chatty = `services:
  chat:
    image: node:24-slim
    command:
      - node
      - -e
      - |
        const flood = () => require('node:child_process').spawn('yes', ['a line of a service that never ends'], { stdio: 'inherit' });
        require('node:http').createServer((_, response) => response.end('flooding', flood)).listen(8080);
    ports: ['8080']
`;

/** One account that does everything that its limits allow, as fast as they allow it. */
export class Misbehaviour {
  readonly #harness: Harness;
  readonly #repository: string;
  readonly #answers = new Map<string, number>();
  readonly #environments: string[] = [];
  /** The environment whose service writes without end. */
  #chat: { id: string; weburl: string } | undefined;
  readonly #sockets = new Set<WebSocket>();
  readonly #viewing: Promise<void>[] = [];
  readonly #readers: EventReader[] = [];
  #running: Promise<unknown> = Promise.resolve();
  readonly #stopping = new AbortController();

  private constructor(harness: Harness, repository: string) {
    this.#harness = harness;
    this.#repository = repository;
  }

  /** Starts to misbehave. */
  static async start(harness: Harness): Promise<Misbehaviour> {
    const origin = `${harness.connection.gitUrl}/${harness.group}/noise.git`;
    await pushCommits(origin, ['main'], 'compose.yaml', manyServices);
    for (let index = 0; index < builds; index++) {
      await pushRepository({ url: origin, branch: `burn-${index}`, files: { ...burning, index: String(index) } });
    }
    await pushCommits(origin, ['chat'], 'compose.yaml', chatty);
    const noise = new Misbehaviour(harness, await harness.addRepository('noise', origin));
    const burns = await Promise.all(
      Array.from({ length: builds }, (_, index) => harness.spawn(noise.#repository, `burn-${index}`)),
    );
    const webhook = await webhookOf(harness.client, noise.#repository);
    noise.#chat = await harness.built(await harness.spawn(noise.#repository, 'chat'));
    await noise.#openEventStreams();
    noise.#followLogs(burns.map((id) => `/api/environment/${id}/build/logs`));
    noise.#running = Promise.all([noise.#sendRequests(), noise.#deliver(webhook), noise.#rebuild(burns)]);
    return noise;
  }

  /**
   * Makes a service write as much as it can, and follows its log. What containers write is read by the node's container
   * runtime, which Kubernetes does not limit.
   */
  async flood(): Promise<void> {
    const chat = this.#chat;
    if (!chat) throw new Error('there is no such service');
    await pageWith(chat.weburl, 'flooding');
    this.#followLogs([`/api/environment/${chat.id}/services/chat/logs`]);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const reader of this.#readers) reader.close();
    for (const socket of this.#sockets) socket.terminate();
    await Promise.all([this.#running, ...this.#viewing]);
  }

  /** Returns how often each answer was given. */
  counts(): ReadonlyMap<string, number> {
    return new Map([...this.#answers].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  async #sendRequests(): Promise<void> {
    let next = performance.now();
    const work = async (connection: number) => {
      for (let index = connection; !this.#stopping.signal.aborted; index++) {
        next = Math.max(next, performance.now() - 1000) + 60_000 / requestsPerMinute;
        await sleep(Math.max(0, next - performance.now()));
        await this.#request(index);
      }
    };
    await Promise.all(Array.from({ length: connections }, (_, index) => work(index)));
  }

  async #request(index: number): Promise<void> {
    const known = this.#environments;
    const environment = `/api/environment/${known[(index * 7) % Math.max(known.length, 1)] ?? 'none.none'}`;
    const requests = [
      ['POST', `/api/repository/${this.#repository}/spawn`, { gitRef: { name: 'main', type: 'branch' } }],
      ['POST', `${environment}/rebuild`],
      ['GET', '/api/overview'],
      ['POST', `${environment}/build`],
      ['POST', `/api/repository/${this.#repository}/sync`],
      ['DELETE', environment],
      ['GET', `/api/repository/${this.#repository}`],
    ] as const;
    const [method, path, body] = requests[index % requests.length] ?? requests[0];
    const target = path
      .split('/')
      .at(-1)
      ?.replace(/.*\..*/, 'object');
    const request = this.#harness.client.send(method, path, body);
    const { status, text } = await this.#answer(`${method} ${target}`, request);
    if (status === 201 && path.endsWith('/spawn')) known.push((JSON.parse(text) as { id: string }).id);
  }

  async #deliver({ url, secret }: { url: string; secret: string }): Promise<void> {
    const work = async () => {
      while (!this.#stopping.signal.aborted) {
        const delivery = githubDelivery(secret, 'push', { ref: 'refs/heads/main', delivery: randomUUID() });
        await Promise.all([this.#answer('delivery', send(url, delivery)), sleep(1000)]);
      }
    };
    await Promise.all(Array.from({ length: deliveriesPerSecond }, work));
  }

  /** Builds without cache again and again, so that all slots of the group are taken. */
  async #rebuild(environments: readonly string[]): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      for (const id of environments) {
        const rebuild = this.#harness.client.send('POST', `/api/environment/${id}/rebuild`);
        await this.#answer('rebuild of a build that burns', rebuild);
      }
      await sleep(rebuildEveryMs, undefined, { signal: this.#stopping.signal }).catch(stopped);
    }
  }

  async #openEventStreams(): Promise<void> {
    const { client, connection } = this.#harness;
    const headers = { 'x-service-token': client.token ?? '' };
    for (let index = 0; index < eventStreams; index++) {
      this.#readers.push(await EventReader.open(`${connection.apiUrl}/api/events`, headers, localhostLookup));
    }
  }

  #followLogs(paths: readonly string[]): void {
    for (let index = 0; index < logViewers; index++) {
      this.#viewing.push(this.#follow(paths[index % paths.length] ?? ''));
    }
  }

  /** Follows a log, and a second after it was closed again, because builds end. */
  async #follow(path: string): Promise<void> {
    const { client, connection } = this.#harness;
    const headers = { 'x-service-token': client.token ?? '' };
    const logs = connection.apiUrl.replace(/^http/, 'ws');
    const { signal } = this.#stopping;
    const isStopping = () => signal.aborted;
    while (!isStopping()) {
      const socket = new WebSocket(`${logs}${path}`, { headers, lookup: localhostLookup });
      this.#sockets.add(socket);
      socket.on('open', () => this.#count('log, opened'));
      // An error is followed by a close.
      socket.on('error', () => undefined);
      await new Promise<void>((resolve) => socket.once('close', () => resolve()));
      this.#sockets.delete(socket);
      if (!isStopping()) this.#count('log, closed');
      await sleep(1000, undefined, { signal }).catch(stopped);
    }
  }

  /** Counts the answer of a request; status 0 is none within its timeout. */
  async #answer(what: string, request: Promise<Answer>): Promise<Pick<Answer, 'status' | 'text'>> {
    const answer = await request.catch((error: unknown) => ({ status: 0, text: messageOf(error) }));
    this.#count(`${what}, ${answer.status === 0 ? 'no answer' : answer.status}`);
    return answer;
  }

  #count(what: string): void {
    this.#answers.set(what, (this.#answers.get(what) ?? 0) + 1);
  }
}

function stopped(error: Error): void {
  if (error.name !== 'AbortError') throw error;
}
