import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { groupNamespace } from '../../crds/ids.ts';
import { testClient } from '../api-server/api-server.ts';
import { waitFor } from '../support/wait-for.ts';
import { pushBranches } from '../end-to-end/branches.ts';
import { namespaceOf, pageWith, type Harness } from '../end-to-end/harness.ts';
import { LifecycleBoard } from '../end-to-end/lifecycle-board.ts';
import { isSettledAs } from '../end-to-end/lifecycle-conditions.ts';
import { LifecycleWorld } from '../end-to-end/lifecycle-world.ts';
import { countedLog, numberedDockerfile } from '../end-to-end/numbered-build.ts';
import { FaultTokens } from './fault-tokens.ts';
import { endOf, type Ask, type Moves } from './moves.ts';
import { StayingViewer } from './staying-viewer.ts';

/** Number of environments of each kind. */
export interface Sizes {
  /** They follow their moves, and run no container. */
  moving: number;
  /** They follow their moves, and each runs a container that serves a page. */
  running: number;
  /** Their images are built slowly. */
  built: number;
}

const runningState = {
  'compose.yaml': `services:
  web:
    image: busybox:1
    command: [sh, -c, 'mkdir /tmp/www && echo it runs > /tmp/www/index.html && exec httpd -f -p 8080 -h /tmp/www']
    ports: ['8080:8080']
    stop_grace_period: 0s
`,
};

const requests: Record<Ask, { method: string; path: string }> = {
  put: { method: 'PUT', path: '' },
  rebuild: { method: 'POST', path: '/rebuild' },
  delete: { method: 'DELETE', path: '' },
};

const states = ['empty', 'created', 'building', 'built'] as const;
/** Their logs last longer than the wait for the fault. */
const numberedLines = 400;
/** Every third moving environment is built before the moves start. */
const builtOf = 3;

/** Environments of one group with their user: some follow moves, and some are built from images. */
export class FaultWorld {
  readonly #harness: Harness;
  readonly #lifecycle: LifecycleWorld;
  /** Names of the moving environments; those that run containers are last. */
  readonly #moving: string[];
  readonly #running: ReadonlySet<string>;
  /** Viewers of the build logs, which stay connected whatever fault is injected. */
  readonly #viewers: ReadonlyMap<string, StayingViewer>;
  readonly #tokens: FaultTokens;
  readonly #stopping = new AbortController();

  private constructor(
    harness: Harness,
    lifecycle: LifecycleWorld,
    ids: { quick: string[]; running: string[]; built: string[] },
    tokens: FaultTokens,
  ) {
    this.#harness = harness;
    this.#lifecycle = lifecycle;
    this.#tokens = tokens;
    this.#moving = [...ids.quick, ...ids.running];
    this.#running = new Set(ids.running);
    this.#viewers = new Map(ids.built.map((id) => [id, new StayingViewer(harness.client, id)]));
  }

  /** Creates this many empty environments of each kind. */
  static async start(harness: Harness, sizes: Sizes, inject: { takesExpired: boolean }): Promise<FaultWorld> {
    const { group } = harness;
    const lifecycle = new LifecycleWorld(harness, new LifecycleBoard(testClient(), [group]), group);
    const named = (kind: string, count: number) => Array.from({ length: count }, (_, index) => `${kind}-${index}`);
    const [moving, running, built] = [
      named('moving', sizes.moving),
      named('running', sizes.running),
      named('numbered', sizes.built),
    ];
    const table = await lifecycle.addRepository(group, 'table', { quick: moving, endless: [] });
    if (running.length > 0) await pushBranches(lifecycle.urlOf(table), runningState, running);
    let origin = '';
    for (const name of built) {
      origin = await harness.push('shop', name, {
        'api/Dockerfile': numberedDockerfile(`${group}-${name}`, numberedLines),
      });
    }
    const shop = await harness.addRepository('shop', origin);
    const ids = {
      quick: moving.map((branch) => lifecycle.environmentId(table, branch)),
      running: running.map((branch) => lifecycle.environmentId(table, branch)),
      built: built.map((name) => lifecycle.environmentId(shop, name)),
    };
    const world = new FaultWorld(harness, lifecycle, ids, await FaultTokens.make(harness, inject));
    await Promise.all([table, shop].map((repository) => lifecycle.sync(repository)));
    await Promise.all(world.ids.map((id) => lifecycle.board.state(id, 'empty')));
    return world;
  }

  get ids(): string[] {
    return [...this.#moving, ...this.#viewers.keys()];
  }

  /**
   * Sends each environment's requests sequentially, and repeats each until the API accepts it, or it is already done.
   */
  async move(moves: readonly Moves[]): Promise<void> {
    const moved = this.#moving.map(async (id, index) => {
      for (const { ask, afterMs } of moves[index] ?? []) {
        await sleep(afterMs, undefined, { signal: this.#stopping.signal });
        await this.#ask(id, ask);
      }
    });
    await Promise.all(moved);
  }

  /**
   * Waits until all states occur; returns how many are in each, such as `12 building, 8 empty`, and the progress of the
   * numbered logs, all of which are being written. Then starts to use the tokens.
   */
  async inAllStates(): Promise<string> {
    const count = (state: string) =>
      this.ids.filter((id) => this.#lifecycle.board.read(id)?.status?.state === state).length;
    // The moves last 20 s at most, and a state may last a tenth of a second.
    for (const end = Date.now() + 60_000; Date.now() < end; await sleep(5)) {
      const counts = states.map((state) => [count(state), state] as const);
      if (counts.some(([number]) => number === 0)) continue;
      const lines = [...this.#viewers.values()].map((viewer) => viewer.number);
      if (lines.some((line) => line >= numberedLines)) break;
      this.#tokens.start();
      return `${counts.map((one) => one.join(' ')).join(', ')}, the logs at line ${lines.join(' and ')} of ${numberedLines}`;
    }
    throw new Error('there were never environments in each of the states at once while the logs were written');
  }

  /**
   * Builds some of the moving environments, and the others; resolves when each of the latter writes its numbered lines.
   */
  async start(): Promise<void> {
    const first = this.#moving.filter((_, index) => index % builtOf === 0);
    await Promise.all(first.map((id) => this.#ask(id, 'put')));
    await Promise.all(first.map((id) => this.#lifecycle.board.state(id, 'built')));
    const built = [...this.#viewers.keys()];
    await Promise.all(built.map((id) => this.#ask(id, 'put')));
    for (const viewer of this.#viewers.values()) viewer.start();
    await Promise.all(
      [...this.#viewers].map(([id, viewer]) =>
        waitFor(`the build of ${id} to write its lines`, 240, async () => (viewer.number >= 10 ? true : undefined)),
      ),
    );
  }

  /** Waits until each environment has reached the end of its moves; then checks that nothing was lost or left. */
  async requireAllWell(
    moves: readonly Moves[],
    { withinSeconds, endsBuilds }: { withinSeconds: number; endsBuilds: boolean },
  ): Promise<void> {
    const ends = new Map([
      ...this.#moving.map((id, index) => [id, endOf(moves[index] ?? [])] as const),
      ...[...this.#viewers.keys()].map((id) => [id, 'built' as const] as const),
    ]);
    const { board } = this.#lifecycle;
    await Promise.all(
      [...ends].map(([id, end]) => board.until(id, end, (one) => isSettledAs(end, one), withinSeconds)),
    );
    await Promise.all([...this.#viewers].map(([id, viewer]) => this.#requireWhole(id, viewer, endsBuilds)));
    const present = [...ends].flatMap(([id, end]) => (end === 'built' ? [id] : []));
    for (const id of present) if (this.#running.has(id)) await this.#requirePage(id, 'it runs');
    await this.#requireNamespaces(present.map((id) => namespaceOf(id)));
    await this.#tokens.requireAsTheyShould();
  }

  /** Number of connections of each viewer. */
  get connections(): number[] {
    return [...this.#viewers.values()].map((viewer) => viewer.connections);
  }

  /** Stops watching; the harness deletes the environments. */
  stop(): Promise<void> {
    this.#stopping.abort();
    this.#tokens.stop();
    for (const viewer of this.#viewers.values()) viewer.stop();
    return this.#lifecycle.board.stop();
  }

  async #ask(id: string, ask: Ask): Promise<void> {
    const { method, path } = requests[ask];
    const send = async () => {
      const answer = await this.#harness.client.send(method, `/api/environment/${id}${path}`);
      const isSoAlready = ask === 'put' && answer.status === 409 && answer.text.includes('PUT needs an empty one');
      if (answer.status < 300 || isSoAlready) return true;
      throw new Error(`${answer.status} ${answer.text}`);
    };
    await waitFor(`${method} ${id}${path} to be taken`, 300, send, this.#stopping.signal);
  }

  /**
   * Verifies that the log has every line once (or once per attempt), that the viewer has seen the same, and that the
   * page responds.
   */
  async #requireWhole(id: string, viewer: StayingViewer, isTriedAgain: boolean): Promise<void> {
    const messages = [];
    for await (const message of this.#harness.client.log(id)) messages.push(message);
    assert.deepEqual(await viewer.seen(), messages, `the viewer of ${id} has seen another log`);
    const { found, expected } = countedLog(messages, numberedLines);
    // Each attempt starts with the first line again, and an interrupted one has all lines before its last one.
    if (isTriedAgain) found.numbers = found.numbers.slice(found.numbers.lastIndexOf(1));
    assert.deepEqual(found, expected, `the log of ${id} is not whole`);
    await this.#requirePage(id, 'Hello from the API');
  }

  async #requirePage(id: string, text: string): Promise<void> {
    await pageWith((await this.#harness.client.environment(id)).weburl, text, 60);
  }

  /** Verifies that exactly those environments have namespaces that have contents. */
  async #requireNamespaces(expected: readonly string[]): Promise<void> {
    const { group, kubectl } = this.#harness;
    await waitFor('the namespaces of the environments, and no other', 60, async () => {
      const names = await kubectl([
        'get',
        'namespaces',
        '--selector',
        `coppice.dev/group=${group}`,
        '--output',
        'name',
      ]);
      const found = names.split('\n').map((name) => name.replace('namespace/', ''));
      const environments = found.filter((name) => name !== '' && name !== groupNamespace(group));
      assert.deepEqual(environments.toSorted(), expected.toSorted());
      return true;
    });
  }
}
