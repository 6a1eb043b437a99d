import { fullRefName, type GitRef } from '../../../../crds/git-ref.ts';
import type { RefLocation } from '../../../source/git/source.ts';
import type { RepositoryConfiguration } from '../../repository/configuration.ts';

/** Reads about one environment's repository, each made at most once per reconcile and only when needed. */
export class RepositoryReads {
  readonly #read: () => Promise<RepositoryConfiguration>;
  readonly #gitRef: GitRef;
  #configuration: Promise<RepositoryConfiguration> | undefined;
  #known: RepositoryConfiguration | undefined;
  #location: Promise<RefLocation> | undefined;
  #fromFork: boolean | undefined;

  constructor(read: () => Promise<RepositoryConfiguration>, gitRef: GitRef) {
    this.#read = read;
    this.#gitRef = gitRef;
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

  /** Returns the location of the ref's commits; the Git host is asked only for a pull request. */
  location(): Promise<RefLocation> {
    this.#location ??= this.#locate();
    return this.#location;
  }

  /** Whether the pull request comes from a fork, once it has been located. */
  get fromFork(): boolean | undefined {
    return this.#fromFork;
  }

  async #readConfiguration(): Promise<RepositoryConfiguration> {
    this.#known = await this.#read();
    return this.#known;
  }

  async #locate(): Promise<RefLocation> {
    const { host } = await this.configuration();
    const { name, type } = this.#gitRef;
    if (type !== 'pull request') return { access: host.access, refName: fullRefName({ name, type }) };
    const { location, isFork } = await host.pullRequest(Number(name));
    this.#fromFork = isFork;
    return location;
  }
}
