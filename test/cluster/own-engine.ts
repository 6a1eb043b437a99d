import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync, rmSync, symlinkSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { PROGRAMS_FOLDER, REPOSITORY_ROOT } from './paths.ts';
import { run, tryRun } from './run.ts';
import { waitFor } from './wait-for.ts';

export interface OwnEngineOptions {
  /** Name of the network namespace. */
  namespace: string;
  /** Names of the two ends of the link to the namespace, of at most 15 characters. */
  links: readonly [outside: string, inside: string];
  /** Addresses of the two ends, in a network of 30 bits. */
  addresses: readonly [outside: string, inside: string];
  /** Folder for the engine's data and the logs. */
  folder: string;
}

/**
 * A Docker Engine without images in a network namespace, for a local cluster beside the one of this machine, with the
 * same names and ports.
 */
export class OwnEngine {
  readonly #options: OwnEngineOptions;
  readonly #processes: ChildProcess[] = [];

  constructor(options: OwnEngineOptions) {
    this.#options = options;
  }

  /** Environment of programs that use the engine. */
  get env(): Record<string, string> {
    return { DOCKER_HOST: `unix://${join(this.#options.folder, 'docker.sock')}` };
  }

  get address(): string {
    return this.#options.addresses[1];
  }

  async addNamespace(): Promise<void> {
    await this.#removeNamespace();
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

  /** Starts a program in the namespace; its output goes to a file. */
  start(name: string, program: string, args: readonly string[]): void {
    const { namespace, folder } = this.#options;
    const output = openSync(join(folder, `${name}.log`), 'a');
    // The PATH may contain the node's containerd, which is newer than Docker's: Docker must not find its shim.
    const folders = (process.env.PATH ?? '').split(delimiter).filter((one) => resolve(one) !== PROGRAMS_FOLDER);
    const env = { ...process.env, PATH: folders.join(delimiter) };
    const inside = [`--net=/run/netns/${namespace}`, program, ...args];
    const stdio: ['ignore', number, number] = ['ignore', output, output];
    this.#processes.push(spawn('nsenter', inside, { stdio, detached: true, env }));
  }

  /** Starts the engine with this machine's flags that matter to kind. */
  async startEngine(...flags: string[]): Promise<void> {
    const { folder } = this.#options;
    const runtime = join(PROGRAMS_FOLDER, 'runc-without-sys-resource');
    const capable = existsSync(runtime) ? ['--add-runtime', `plain=${runtime}`, '--default-runtime', 'plain'] : [];
    this.start('dockerd', 'dockerd', [
      ...['--host', this.env['DOCKER_HOST'] ?? '', '--data-root', join(folder, 'docker')],
      ...['--exec-root', join(folder, 'exec'), '--pidfile', join(folder, 'docker.pid'), ...capable, ...flags],
    ]);
    await waitFor('the engine', 60, async () => (await tryRun('docker', ['version'], { env: this.env })) && true);
  }

  /** Creates a checkout of the last commit with a `.local` of its own; returns its folder. */
  async checkOut(): Promise<string> {
    const checkout = join(this.#options.folder, 'checkout');
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

  /** Removes the containers, ends the programs, and removes the namespace and the folder. */
  async remove(): Promise<void> {
    const { folder } = this.#options;
    const containers = 'docker ps --all --quiet | xargs -r docker rm --force --volumes';
    await tryRun('sh', ['-c', containers], { env: this.env, deadline: 120 });
    for (const child of this.#processes.reverse()) {
      const ended = child.exitCode === null ? once(child, 'exit') : undefined;
      child.kill('SIGTERM');
      await ended;
    }
    await this.#removeNamespace();
    // dockerd leaves this mount of its network namespace.
    await tryRun('umount', [join(folder, 'exec/netns/default')]);
    rmSync(folder, { recursive: true, force: true });
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
