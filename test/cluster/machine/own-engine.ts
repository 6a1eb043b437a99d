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
import { messageOf, Problem } from '../../support/problem.ts';
import { ProcessLock } from '../../support/process-lock.ts';
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
  readonly #lock: ProcessLock;
  #isCreated = false;

  constructor(options: OwnEngineOptions) {
    this.#options = options;
    this.folder = join(CACHE_FOLDER, options.namespace);
    this.#lock = new ProcessLock(`${this.folder}.lock`);
  }

  /** Environment of programs that use the engine. */
  get env(): Record<string, string> {
    return { DOCKER_HOST: `unix://${join(this.folder, 'docker.sock')}` };
  }

  get address(): string {
    return this.#options.addresses[1];
  }

  /**
   * Creates the folder and the namespace, after what an interrupted run has left of them is removed. Throws a Problem if
   * another process uses them.
   */
  async create(): Promise<void> {
    mkdirSync(CACHE_FOLDER, { recursive: true });
    const holder = this.#lock.take();
    if (holder !== undefined) {
      throw new Problem(`Process ${holder} uses the Docker Engine in ${this.folder}. Wait until it ends.`);
    }
    this.#isCreated = true;
    await this.#removeAll();
    mkdirSync(this.folder);
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
    const data = ['--data-root', join(folder, 'docker'), '--exec-root', join(folder, 'exec')];
    const address = ['--host', this.env['DOCKER_HOST'] ?? '', '--pidfile', join(folder, 'docker.pid')];
    this.start('dockerd', 'dockerd', [...address, ...data, ...runtimeFlags(), ...flags]);
    await waitFor('the engine', 60, () => this.#answers());
  }

  async #answers(): Promise<true | undefined> {
    return (await tryRun('docker', ['version'], { env: this.env })) === undefined ? undefined : true;
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

  /** Keeps the logs, and removes the containers, the programs, the namespace and the folder, if they were created. */
  async remove(): Promise<void> {
    if (!this.#isCreated) return;
    try {
      this.#keepLogs();
    } finally {
      await this.#removeAll();
      this.#lock.release();
    }
  }

  #keepLogs(): void {
    if (!existsSync(this.folder)) return;
    const kept = join(LOCAL_FOLDER, 'own-engine', this.#options.namespace);
    rmSync(kept, { recursive: true, force: true });
    const logs = readdirSync(this.folder).filter((name) => name.endsWith('.log'));
    for (const log of logs) cpSync(join(this.folder, log), join(kept, log));
    const upLog = join(this.folder, 'checkout/.local/up.log');
    if (existsSync(upLog)) cpSync(upLog, join(kept, 'up.log'));
    if (logs.length === 0) return;
    console.log(`The logs of the engine, and of npm run up on it, are in ${kept}.`);
  }

  async #removeAll(): Promise<void> {
    const { folder } = this;
    if (existsSync(folder)) {
      await this.#removeContainers();
      for (const file of readdirSync(folder).filter((name) => name.endsWith('.pid'))) {
        await this.#end(Number(readFileSync(join(folder, file), 'utf8')));
      }
      // dockerd leaves mounts of network namespaces, and a killed one all of its mounts.
      for (const mount of mountsBelow(folder)) await tryRun('umount', ['--lazy', mount]);
    }
    await this.#removeNamespace();
    rmSync(folder, { recursive: true, force: true });
  }

  async #removeContainers(): Promise<void> {
    if (!existsSync(join(this.folder, 'docker'))) return;
    if (!(await this.#answers())) {
      // The containers of a killed dockerd still run, and only a running one can remove them.
      await tryRun('ip', ['netns', 'add', this.#options.namespace]);
      await this.startEngine().catch((error: unknown) => console.log(messageOf(error)));
    }
    const containers = 'docker ps --all --quiet | xargs -r docker rm --force --volumes';
    await tryRun('sh', ['-c', containers], { env: this.env, deadline: 120 });
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
    await waitFor(`process ${pid} to end`, 60, ended).catch(async () => {
      process.kill(pid, 'SIGKILL');
      await waitFor(`process ${pid} to end`, 10, ended);
    });
  }

  async #removeNamespace(): Promise<void> {
    for (const [flag, table, chain, ...rule] of this.#routes()) {
      await tryRun('iptables', [flag, table, '-D', chain, ...rule]);
    }
    // The kernel removes the links of a namespace only after `ip netns delete` has returned.
    await tryRun('ip', ['link', 'delete', this.#options.links[0]]);
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

/** Returns the mount points below a folder, those below others first (proc_pid_mountinfo(5)). */
function mountsBelow(folder: string): string[] {
  const points = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '');
  return points.filter((point) => point.startsWith(`${folder}/`)).reverse();
}
