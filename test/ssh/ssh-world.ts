import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest } from '@jest/globals';
import type { Repository } from '../../crds/repository.ts';
import { secretText } from '../../kubernetes/secret-texts.ts';
import { GitHosts } from '../../operator/source/hosts/git-hosts.ts';
import { SshKeys } from '../../operator/source/hosts/ssh-keys.ts';
import { addressGuard } from '../../operator/source/network/addresses.ts';
import { Source, type SourceOptions } from '../../operator/source/git/source.ts';
import { createKeyPair } from '../../operator/source/git/ssh-tools.ts';
import { ClusterSecrets } from './cluster-secrets.ts';
import { startSshd, type TestSshd } from './start-sshd.ts';
import { groupFlows } from '../../operator/source/hosts/testing/group-flows.ts';

/** Name under which the server is requested. */
export const HOST = 'git.example.com';
export const MAIN = { name: 'main', type: 'branch' } as const;

/** A server, its repositories, and the operator's access to them. */
export class SshWorld {
  readonly sshd: TestSshd;
  /** Folder for files of the operator's calls, which must leave nothing. */
  readonly scratch: string;
  secrets = new ClusterSecrets();

  private constructor(sshd: TestSshd, scratch: string) {
    this.sshd = sshd;
    this.scratch = scratch;
  }

  static async start(): Promise<SshWorld> {
    return new SshWorld(await startSshd(), await mkdtemp(join(tmpdir(), 'coppice-ssh-')));
  }

  async stop(): Promise<void> {
    await this.sshd.stop();
    await rm(this.scratch, { recursive: true });
  }

  /** Removes all accepted keys and all Secrets. */
  async forget(): Promise<void> {
    this.secrets = new ClusterSecrets();
    await this.sshd.authorize([]);
  }

  /** Creates a bare repository with these files on main; returns the commit. */
  bareRepository(name: string, files: Record<string, string>, links: Record<string, string> = {}): string {
    const git = (args: string[], input?: string) =>
      execFileSync('git', ['-C', join(this.sshd.folder, name), ...args], { input, encoding: 'utf8' }).trim();
    execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', join(this.sshd.folder, name)]);
    const blobs = Object.entries(files).map(
      ([path, content]) => `100644 blob ${git(['hash-object', '-w', '--stdin'], content)}\t${path}\n`,
    );
    const submodules = Object.entries(links).map(([path, commit]) => `160000 commit ${commit}\t${path}\n`);
    const tree = git(['mktree', '--missing'], [...blobs, ...submodules].join(''));
    const commit = git(['-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit-tree', '-m', 'x', tree]);
    git(['update-ref', 'refs/heads/main', commit]);
    return commit;
  }

  urlOf(name: string): string {
    return `ssh://${this.sshd.user}@${HOST}:${this.sshd.port}${this.sshd.folder}/${name}`;
  }

  repository(origin: string, knownHosts?: string): Repository {
    return {
      apiVersion: 'coppice.dev/v1alpha1',
      kind: 'Repository',
      metadata: { name: 'shop', namespace: 'group-acme', uid: 'uid-of-shop' },
      spec: { type: 'generic', generic: { origin, knownHosts } },
    };
  }

  world(options: Partial<SourceOptions> = {}) {
    const source = new Source({
      scratch: this.scratch,
      isAddressAllowed: addressGuard(['127.0.0.0/8']),
      ports: [],
      sshPorts: [this.sshd.port],
      timeoutMs: 20_000,
      lookup: () => Promise.resolve([{ address: '127.0.0.1' }]),
      ...options,
    });
    const sshKeys = new SshKeys({
      client: this.secrets as never,
      createKeyPair: (comment) => createKeyPair(this.scratch, comment),
    });
    const hosts = new GitHosts({
      client: this.secrets as never,
      source,
      sshKeys,
      http: undefined as never,
      defaults: undefined as never,
      flows: groupFlows,
    });
    return { source, hosts };
  }

  async textOf(key: string): Promise<string> {
    return secretText(await this.secrets.find(undefined, { name: 'ssh-shop' }), key) ?? '';
  }

  /** Returns a repository whose host keys are known. */
  async known(origin: string): Promise<Repository> {
    return this.repository(origin, `[${HOST}]:${this.sshd.port} ${await this.sshd.hostKey()}`);
  }

  /** Registers the repository's key, which is created for it. */
  async letIn(of: Repository): Promise<string> {
    const key = await this.world().hosts.sshPublicKey(of);
    await this.sshd.authorize([key ?? '']);
    return key ?? '';
  }
}

/**
 * Creates the world that the tests of one file share. Each connection starts a process on both sides, so the tests are
 * slow.
 */
export function useSshWorld(): () => SshWorld {
  jest.setTimeout(60_000);
  let world: SshWorld | undefined;
  const started = () => {
    if (!world) throw new Error('the world of this file has not started');
    return world;
  };
  beforeAll(async () => {
    world = await SshWorld.start();
  });
  afterAll(() => started().stop());
  beforeEach(() => started().forget());
  afterEach(async () => {
    // Keys were in folders that are deleted: no call may leave anything.
    const left = (await readdir(started().scratch)).filter((name) => /^(git|ssh-key)-/.test(name));
    expect(left).toEqual([]);
  });
  return started;
}

export async function errorOf(promise: Promise<unknown>): Promise<Error & { reason?: string }> {
  return promise.then(
    () => {
      throw new Error('it did not fail');
    },
    (error: unknown) => error as Error,
  );
}
