import type { GitRef } from '../../../crds/git-ref.ts';
import type { Flow } from '../../../fair-queue/fair-queue.ts';
import type { RepositoryFiles } from '../../../service-file/files.ts';
import type { Lookup, OriginRules } from '../network/addresses.ts';
import { Blobs } from './blobs.ts';
import { KeyNotAcceptedError, refNotFound } from '../errors.ts';
import { withGit, type GitRunner } from './git.ts';
import { partialCloneConfig } from './git-config.ts';
import { attempting, HostBackoff } from './host-backoff.ts';
import { CA_FILE, GIT_CONFIG_FILE, gitFiles, type GitFiles, type SourceAccess } from './git-files.ts';
import { KeyWaits } from './key-waits.ts';
import { KnownBlobs } from './known-blobs.ts';
import { fetchedAs, READ_COMMIT } from './read-commit.ts';
import { parseRefs, parseRemoteRefs, type RemoteRefs } from './remote-refs.ts';
import { SnapshotFiles } from './snapshot-files.ts';
import { parseSshOrigin } from '../network/ssh-origin.ts';
import { parseTree, type TreeEntry } from './tree.ts';

export type { SourceAccess } from './git-files.ts';

/** Where git finds a ref's commits. */
export interface RefLocation {
  access: SourceAccess;
  /** Full name, such as refs/heads/main. */
  refName: string;
}

/** The files of one commit: trees are fetched at once, a file when it is read. */
export interface SourceSnapshot {
  commit: string;
  entries: readonly TreeEntry[];
  files: RepositoryFiles;
}

export interface SourceOptions extends OriginRules {
  scratch: string;
  timeoutMs: number;
  /** PEM of certificate authorities that a clone container trusts in addition to public ones. */
  caCertificates?: string | undefined;
  lookup?: Lookup;
  /** Returns Unix milliseconds. */
  now?: () => number;
}

/** Timeout of all git processes that one call starts, in milliseconds. */
const totalTimeoutMs = 60_000;

/** Reads Git repositories over HTTP(S) and SSH. Only this class and the clone container connect to Git servers. */
export class Source {
  readonly #options: SourceOptions;
  readonly #keyWaits: KeyWaits;
  readonly #knownBlobs = new KnownBlobs();
  readonly #backoff: HostBackoff;

  constructor(options: SourceOptions) {
    this.#options = options;
    this.#keyWaits = new KeyWaits(options.now ?? Date.now);
    this.#backoff = new HostBackoff(options.now ?? Date.now);
  }

  /** Returns the files that a clone container needs for this origin. */
  async files(access: SourceAccess): Promise<GitFiles> {
    const files = await gitFiles(access, this.#options, this.#options.lookup);
    const { caCertificates } = this.#options;
    if (caCertificates === undefined) return files;
    return (folder) => ({ ...files(folder), [CA_FILE]: caCertificates });
  }

  /**
   * Checks that the repository exists and the credentials can read it. Throws SourceRefusedError or
   * SourceUnreachableError.
   */
  async check(access: SourceAccess): Promise<void> {
    await this.#withGit(access, (git) => git.listRemote(['ls-remote', '--', access.origin, 'HEAD']));
  }

  /** Returns the commit that the ref currently points to. */
  async resolve({ access, refName: name }: RefLocation, ref: GitRef): Promise<string> {
    const output = await this.#withGit(access, (git) =>
      git.listRemote(['ls-remote', '--', access.origin, name, `${name}^{}`]),
    );
    const commits = new Map(
      output
        .split('\n')
        .filter(Boolean)
        .map((line) => line.split('\t').reverse() as [string, string]),
    );
    const commit = commits.get(`${name}^{}`) ?? commits.get(name);
    if (commit === undefined) throw refNotFound(ref);
    return commit;
  }

  /** Lists all branches and tags; never a part of them. Throws SourceRefusedError or SourceUnreachableError. */
  async listRefs(access: SourceAccess): Promise<RemoteRefs> {
    const args = ['ls-remote', '--heads', '--tags', '--', access.origin];
    return parseRemoteRefs(await this.#withGit(access, (git) => git.listRemote(args)));
  }

  /** Returns the commits that these refs, by full name, currently point to; omits refs that do not exist. */
  async commitsOf(access: SourceAccess, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (names.length === 0) return new Map();
    const args = ['ls-remote', '--', access.origin, ...names];
    return parseRefs(await this.#withGit(access, (git) => git.listRemote(args)));
  }

  /**
   * Fetches the ref's newest commit without its history and passes its files to `read`. Throws SourceRefusedError after
   * 60 s.
   */
  async snapshot<T>({ access, refName }: RefLocation, read: (snapshot: SourceSnapshot) => Promise<T>): Promise<T> {
    const reading = async (git: GitRunner) => {
      const output = await git.runScript(READ_COMMIT, [refName, fetchedAs(refName)]);
      const [commit = '', tree = ''] = output.split('\n', 2);
      const entries = parseTree(output.slice(commit.length + tree.length + 2), tree);
      const blobs = new Blobs(git, this.#knownBlobs.of(access));
      const files = new SnapshotFiles(
        entries,
        (id) => blobs.read(id),
        (ids) => blobs.prefetch(ids),
      );
      return read({ commit, entries, files });
    };
    return this.#withGit(access, reading, partialCloneConfig(access.origin));
  }

  /** Runs git; `config` is added to the configuration of every git. */
  async #withGit<T>(access: SourceAccess, use: (git: GitRunner) => Promise<T>, config = ''): Promise<T> {
    const attempt = this.#backoff.start(backoffKey(access));
    return attempting(attempt, () => this.#attempt(access, use, config, () => attempt.check()));
  }

  async #attempt<T>(
    access: SourceAccess,
    use: (git: GitRunner) => Promise<T>,
    config: string,
    onSlot: () => void,
  ): Promise<T> {
    const given = await this.files(access);
    const files: GitFiles = (folder) => withConfig(given(folder), config);
    const { scratch, timeoutMs } = this.#options;
    const publicKey = access.ssh?.publicKey;
    const key = `${access.origin} ${publicKey}`;
    try {
      const options = { scratch, files, flow: flowOf(access), onSlot, timeoutMs, totalMs: totalTimeoutMs };
      const result = await withGit(options, use);
      this.#keyWaits.accepted(key);
      return result;
    } catch (error) {
      if (!(error instanceof KeyNotAcceptedError) || publicKey === undefined) throw error;
      const message = `${error.message}. Add this public key there: ${publicKey}`;
      throw new KeyNotAcceptedError(message, this.#keyWaits.refused(key), { cause: error });
    }
  }
}

/** Returns the flow of an access; access without an owner has a flow of its own. */
function flowOf({ origin, flowOwner = { tenant: '', group: '' } }: SourceAccess): Flow {
  return { ...flowOwner, host: parseSshOrigin(origin)?.host ?? new URL(origin).host };
}

/**
 * Returns the key of the backoff. It includes the tenant, so that a repository that takes too long to read does not
 * keep others from its host.
 */
function backoffKey({ origin, flowOwner }: SourceAccess): string {
  const ssh = parseSshOrigin(origin);
  return `${flowOwner?.tenant ?? ''} ${ssh ? `${ssh.host}:${ssh.port}` : (URL.parse(origin)?.origin ?? origin)}`;
}

function withConfig(files: Record<string, string>, config: string): Record<string, string> {
  return { ...files, [GIT_CONFIG_FILE]: `${files[GIT_CONFIG_FILE] ?? ''}${config}` };
}
