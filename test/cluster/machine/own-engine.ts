import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { engineEnvironment, runtimeFlags } from './docker-engine.ts';
import { CACHE_FOLDER, LOCAL_FOLDER, REPOSITORY_ROOT } from '../../support/paths.ts';
import { run, tryRun } from '../../support/run.ts';
import { waitFor } from '../../support/wait-for.ts';

export interface OwnEngineOptions {
  /** Name of the network namespace, and of the folder for the engine's data below the cache folder. */
  namespace: string;
  /** Names of the two ends of the link to the namespace, of at most 15 characters. */
  links: readonly [outside: string, inside: string];
  /** Addresses of the two ends, in a network of 30 bits. */
  addresses: readonly [outside: string, inside: string];
}

/**
 * A Docker Engine without images in a network namespace, for a local cluster beside the one of this machine, with the
 * same names and ports.
 */
export class OwnEngine {
  readonly #options: OwnEngineOptions;
  /** Holds the engine's data, and the process IDs and logs of the programs. */
  readonly folder: string;

  constructor(options: OwnEngineOptions) {
    this.#options = options;
    this.folder = join(CACHE_FOLDER, options.namespace);
  }

  /** Environment of programs that use the engine. */
  get env(): Record<string, string> {
    return { DOCKER_HOST: `unix://${join(this.folder, 'docker.sock')}` };
  }

  get address(): string {
    return this.#options.addresses[1];
  }

  /** Creates the folder and the namespace, after what an interrupted run has left of them is removed. */
  async create(): Promise<void> {
    await this.#removeAll();
    mkdirSync(this.folder, { recursive: true });
    const { namespace, links, addresses } = this.#options;
    const [outside, inside] = links;
    const ip = (...args: string[]) => run('ip', args);
    const ipInside = (...args: string[]) => run('ip', ['-n', namespace, ...args]);
    await ip('netns', 'add', namespace);
    await ip('link', 'add', outside, 'type', 'veth', 'peer', 'name', inside, 'netns', namespace);
    await ip('addr', 'add', `${addresses[0]}/30`, 'dev', outside);
    await ip('link', 'set', outside, 'up');
    await ipInside('addr', 'add', `${addresses[1]}/30`, 'dev', inside);
    await ipInside('link', 'set', inside, 'up');
    await ipInside('link', 'set', 'lo', 'up');
    await ipInside('route', 'add', 'default', 'via', addresses[0]);
    for (const [flag, table, chain, ...rule] of this.#routes()) {
      await run('iptables', [flag, table, '-I', chain, ...rule]);
    }
  }

  /** Starts a program in the namespace; its output goes to a file. An argument must name the engine's folder. */
  start(name: string, program: string, args: readonly string[]): void {
    const output = openSync(join(this.folder, `${name}.log`), 'a');
    const inside = [`--net=/run/netns/${this.#options.namespace}`, program, ...args];
    const { pid } = spawn('nsenter', inside, {
      stdio: ['ignore', output, output],
      detached: true,
      env: engineEnvironment(),
    });
    if (pid !== undefined) writeFileSync(join(this.folder, `${name}.pid`), String(pid));
  }

  /** Starts the engine with this machine's flags that matter to kind. */
  async startEngine(...flags: string[]): Promise<void> {
    const { folder } = this;
    this.start('dockerd', 'dockerd', [
      ...['--host', this.env['DOCKER_HOST'] ?? '', '--data-root', join(folder, 'docker')],
      ...[
        '--exec-root',
        join(folder, 'exec'),
        '--pidfile',
        join(folder, 'docker.pid'),
        ...(await runtimeFlags()),
        ...flags,
      ],
    ]);
    await waitFor('the engine', 60, async () => (await tryRun('docker', ['version'], { env: this.env })) && true);
  }

  /** Creates a checkout of the last commit with a `.local` of its own; returns its folder. */
  async checkOut(): Promise<string> {
    const checkout = join(this.folder, 'checkout');
    const unpack = 'mkdir "$1" && git archive HEAD | tar -x -C "$1"';
    await run('sh', ['-ec', unpack, 'sh', checkout], { cwd: REPOSITORY_ROOT });
    symlinkSync(join(REPOSITORY_ROOT, 'node_modules'), join(checkout, 'node_modules'));
    return checkout;
  }

  /** Runs a program in the namespace, with the engine. Throws if it fails. */
  async run(program: string, args: readonly string[], cwd: string, env: Record<string, string> = {}): Promise<void> {
    const inside = [`--net=/run/netns/${this.#options.namespace}`, program, ...args];
    const child = spawn('nsenter', inside, { cwd, env: { ...process.env, ...this.env, ...env }, stdio: 'inherit' });
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`${[program, ...args].join(' ')} ended with exit code ${code ?? 'none'}`);
  }

  /** Keeps the logs, and removes the containers, the programs, the namespace and the folder. */
  async remove(): Promise<void> {
    this.#keepLogs();
    await this.#removeAll();
  }

  #keepLogs(): void {
    if (!existsSync(this.folder)) return;
    const kept = join(LOCAL_FOLDER, 'own-engine', this.#options.namespace);
    rmSync(kept, { recursive: true, force: true });
    const logs = readdirSync(this.folder).filter((name) => name.endsWith('.log'));
    for (const log of [...logs, 'checkout/.local/up.log'].filter((path) => existsSync(join(this.folder, path)))) {
      cpSync(join(this.folder, log), join(kept, log));
    }
    console.log(`The logs of the engine, and of npm run up on it, are in ${kept}.`);
  }

  async #removeAll(): Promise<void> {
    const { folder } = this;
    if (existsSync(folder)) {
      const containers = 'docker ps --all --quiet | xargs -r docker rm --force --volumes';
      await tryRun('sh', ['-c', containers], { env: this.env, deadline: 120 });
      for (const file of readdirSync(folder).filter((name) => name.endsWith('.pid'))) {
        await this.#end(Number(readFileSync(join(folder, file), 'utf8')));
      }
      // dockerd leaves this mount of its network namespace.
      await tryRun('umount', [join(folder, 'exec/netns/default')]);
    }
    await this.#removeNamespace();
    rmSync(folder, { recursive: true, force: true });
  }

  /** Ends a program of this engine, or of an interrupted run. Its ID may be another program's by now. */
  async #end(pid: number): Promise<void> {
    const runs = () => {
      const file = `/proc/${pid}/cmdline`;
      return existsSync(file) && readFileSync(file, 'utf8').includes(this.folder);
    };
    if (!runs()) return;
    process.kill(pid, 'SIGTERM');
    const ended = async () => (runs() ? undefined : true);
    await waitFor(`process ${pid} to end`, 60, ended).catch(() => process.kill(pid, 'SIGKILL'));
  }

  async #removeNamespace(): Promise<void> {
    for (const [flag, table, chain, ...rule] of this.#routes()) {
      await tryRun('iptables', [flag, table, '-D', chain, ...rule]);
    }
    await tryRun('ip', ['netns', 'delete', this.#options.namespace]);
  }

  #routes() {
    const inside = `${this.address}/32`;
    return [
      ['-t', 'nat', 'POSTROUTING', '-s', inside, '-j', 'MASQUERADE'],
      ['-t', 'filter', 'FORWARD', '-s', inside, '-j', 'ACCEPT'],
      ['-t', 'filter', 'FORWARD', '-d', inside, '-j', 'ACCEPT'],
    ] as const;
  }
}
