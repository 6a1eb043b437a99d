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
import { LargeTrees } from './large-trees.ts';
import { ListingCosts, type ListedOrigin } from './listing-costs.ts';
import { fetchedAs, READ_COMMIT } from './read-commit.ts';
import { parseRefs, parseRemoteRefs, type RemoteRefs } from './remote-refs.ts';
import { shownText } from './shown-text.ts';
import { SnapshotFiles } from './snapshot-files.ts';
import { parseSshOrigin } from '../network/ssh-origin.ts';
import { countEntries, parseTree, type TreeEntry } from './tree.ts';

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
  author: string;
  /** First line of its message. */
  subject: string;
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
  readonly #listings: ListingCosts;
  readonly #largeTrees = new LargeTrees();

  constructor(options: SourceOptions) {
    this.#options = options;
    this.#listings = new ListingCosts(options.now ?? Date.now);
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
    await this.#list(access, 'named', ['ls-remote', '--', access.origin, 'HEAD']);
  }

  /** Returns the commit that the ref currently points to. */
  async resolve({ access, refName: name }: RefLocation, ref: GitRef): Promise<string> {
    const output = await this.#list(access, 'named', ['ls-remote', '--', access.origin, name, `${name}^{}`]);
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
    return parseRemoteRefs(await this.#list(access, 'all', args));
  }

  /** Returns in how many milliseconds listRefs() lists the origin again, in proportion to what its last list cost. */
  listingWaitMs(access: SourceAccess): number {
    return this.#listings.waitMs(listedOrigin(access, 'all'));
  }

  /** Returns the commits that these refs, by full name, currently point to; omits refs that do not exist. */
  async commitsOf(access: SourceAccess, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (names.length === 0) return new Map();
    const args = ['ls-remote', '--', access.origin, ...names];
    return parseRefs(await this.#list(access, 'named', args));
  }

  /**
   * Fetches the ref's newest commit without its history and passes its files to `read`. Throws SourceRefusedError after
   * 60 s.
   */
  async snapshot<T>({ access, refName }: RefLocation, read: (snapshot: SourceSnapshot) => Promise<T>): Promise<T> {
    const reading = async (git: GitRunner) => {
      const output = await git.runScript(READ_COMMIT, [refName, fetchedAs(refName)]);
      const head = output.split('\n', 4);
      const [commit = '', tree = '', author = '', subject = ''] = head;
      const listing = output.slice(head.join('\n').length + 1);
      return this.#largeTrees.run(flowOf(access), countEntries(listing), () => {
        const entries = parseTree(listing, tree);
        const blobs = new Blobs(git, this.#knownBlobs.of(access));
        const files = new SnapshotFiles(
          entries,
          (id) => blobs.read(id),
          (ids) => blobs.prefetch(ids),
        );
        return read({ commit, author: shownText(author), subject: shownText(subject), entries, files });
      });
    };
    return this.#withGit(access, reading, { config: partialCloneConfig(access.origin) });
  }

  /** Lists refs. Throws HostBusyError if the last list was expensive, also when it has waited for a slot meanwhile. */
  #list(access: SourceAccess, refs: ListedOrigin['refs'], args: readonly string[]): Promise<string> {
    const listed = listedOrigin(access, refs);
    const onSlot = () => this.#listings.require(listed);
    return this.#withGit(access, (git) => git.listRemote(args, (bytes) => this.#listings.spend(listed, bytes)), {
      onSlot,
    });
  }

  /** Runs git; `config` is added to the configuration of every git, `onSlot` is called when the first one has a slot. */
  async #withGit<T>(
    access: SourceAccess,
    use: (git: GitRunner) => Promise<T>,
    { config = '', onSlot }: { config?: string; onSlot?: () => void } = {},
  ): Promise<T> {
    const attempt = this.#backoff.start(backoffKey(access));
    const check = () => {
      attempt.check();
      onSlot?.();
    };
    return attempting(attempt, () => this.#attempt(access, use, config, check));
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

function listedOrigin({ origin, flowOwner }: SourceAccess, refs: ListedOrigin['refs']): ListedOrigin {
  return { tenant: flowOwner?.tenant ?? '', origin, refs };
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
