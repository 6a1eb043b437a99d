import { fullRefName, type GitRef } from '../../../../crds/git-ref.ts';
import type { RefLocation } from '../../../source/git/source.ts';
import type { RepositoryConfiguration } from '../../repository/configuration.ts';

/** Reads about one environment's repository, each made at most once per reconcile and only when needed. */
export class RepositoryReads {
  readonly #read: () => Promise<RepositoryConfiguration>;
  readonly #gitRef: GitRef;
  readonly #isKnownAsOwn: boolean;
  readonly #readOther: (name: string) => Promise<RepositoryConfiguration>;
  readonly #others = new Map<string, Promise<RepositoryConfiguration>>();
  /** Configurations of other repositories as far as they have been read. */
  readonly knownOthers: RepositoryConfiguration[] = [];
  #configuration: Promise<RepositoryConfiguration> | undefined;
  #known: RepositoryConfiguration | undefined;
  #location: Promise<RefLocation> | undefined;
  #fromFork: boolean | undefined;
  #sourceBranch: string | undefined;

  /**
   * Creates the reads of a ref's repository. `fromFork`: whether the status records that its commits come from a fork;
   * `readOther`: reads one that its service file includes, by its name.
   */
  constructor(
    read: () => Promise<RepositoryConfiguration>,
    { gitRef, fromFork }: { gitRef: GitRef; fromFork: boolean | undefined },
    readOther: (name: string) => Promise<RepositoryConfiguration>,
  ) {
    this.#read = read;
    this.#gitRef = gitRef;
    this.#isKnownAsOwn = fromFork === false;
    this.#readOther = readOther;
  }

  /** Returns the repository's configuration, whose Secrets are not cached. Throws as RepositoryConfigurations.read does. */
  configuration(): Promise<RepositoryConfiguration> {
    this.#configuration ??= this.#readConfiguration();
    return this.#configuration;
  }

  /** The configuration as far as it has been read. */
  get knownConfiguration(): RepositoryConfiguration | undefined {
    return this.#known;
  }

  /** Returns the configuration of another repository of the group. Throws as RepositoryConfigurations.read does. */
  other(name: string): Promise<RepositoryConfiguration> {
    const known = this.#others.get(name) ?? this.#readOtherOnce(name);
    this.#others.set(name, known);
    return known;
  }

  /** Returns the location of the ref's commits; the Git host is asked only for a pull request. */
  location(): Promise<RefLocation> {
    this.#location ??= this.#locate();
    return this.#location;
  }

  /** Whether the pull request comes from a fork, once it has been located. */
  get fromFork(): boolean | undefined {
    return this.#fromFork;
  }

  /**
   * Branch that the ref's commits are on, whose name other repositories are searched for: of a pull request once it has
   * been located, and only if it is not from a fork, whose author chooses the name. Undefined for a tag.
   */
  get sourceBranch(): string | undefined {
    return this.#gitRef.type === 'branch' ? this.#gitRef.name : this.#sourceBranch;
  }

  async #readOtherOnce(name: string): Promise<RepositoryConfiguration> {
    const configuration = await this.#readOther(name);
    this.knownOthers.push(configuration);
    return configuration;
  }

  async #readConfiguration(): Promise<RepositoryConfiguration> {
    this.#known = await this.#read();
    return this.#known;
  }

  async #locate(): Promise<RefLocation> {
    const { host, confirmRepository } = await this.configuration();
    const { name, type } = this.#gitRef;
    if (type !== 'pull request') return { access: host.access, refName: fullRefName({ name, type }) };
    const { location, isFork, sourceBranch } = await host.pullRequest(Number(name));
    // If another account has taken over the repository's name, it also controls the pull requests that the host reports
    // as the repository's own.
    if (isFork === false && !this.#isKnownAsOwn) await confirmRepository();
    this.#fromFork = isFork;
    if (isFork === false) this.#sourceBranch = sourceBranch;
    return location;
  }
}
