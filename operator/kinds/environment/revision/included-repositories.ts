import { isRefName } from '../../../../crds/git-ref.ts';
import type { IncludedRepositoryStatus } from '../../../../crds/included-repository.ts';
import { asIncluded } from '../../../../service-file/combine-repositories.ts';
import type { FileContents } from '../../../../service-file/files.ts';
import type { IncludedServices } from '../../../../service-file/included.ts';
import { type EnvironmentFacts, OwnVariables } from '../../../../service-file/own-variables.ts';
import { readServiceFile } from '../../../../service-file/parse.ts';
import { formatProblem } from '../../../../service-file/problems.ts';
import type { IncludedRepository, ServiceFile } from '../../../../service-file/schema.ts';
import type { Variables } from '../../../../service-file/variables.ts';
import { planImages, type PlannedImage } from '../../../images/plan/image-plan.ts';
import type { WatchBudget } from '../../../images/plan/watch.ts';
import { Stalled } from '../../../shared/errors.ts';
import { SourceRefusedError } from '../../../source/errors.ts';
import type { RefLocation, Source, SourceSnapshot } from '../../../source/git/source.ts';
import type { RepositoryConfiguration } from '../../repository/configuration.ts';
import { onPlatform } from './cluster-rules.ts';

/** The other repositories that an environment's service file can include. */
export interface IncludedSources {
  /** Returns whether the group has the repository and, if the environment may run a fork's code, it permits that. */
  canInclude: (name: string) => boolean;
  /** Returns whether more people can open the environment than those whom the repository's own setting lets in. */
  opensFurther: (name: string) => boolean;
  configuration: (name: string) => Promise<RepositoryConfiguration>;
  /** Branch whose name is searched for; undefined for a tag, and for pull requests whose branch must not count. */
  sourceBranch: () => string | undefined;
  /** Whether the environment may run a fork's code, trusted or not. */
  mayBeFork: () => boolean;
}

/** The commit of an included repository that is newest now. */
export interface ResolvedRepository {
  repository: IncludedRepository;
  branch: string;
  commit: string;
  configuration: RepositoryConfiguration;
  /** Those that it is planned with: none in an environment that may run a fork's code. */
  variables: Variables;
}

/** What one included repository contributes to an environment. */
export interface IncludedPart extends ResolvedRepository {
  serviceFile: ServiceFile;
  contents: FileContents;
  images: PlannedImage[];
  warnings: string[];
  /** Whether it names the number of the build. */
  usesBuild: boolean;
}

export interface ReadOptions {
  /** Name of the environment's own repository. */
  own: string;
  facts: EnvironmentFacts;
  build: number;
  platform: string | undefined;
  hashKey: Uint8Array;
  watchBudget: WatchBudget;
}

const maxBranchLength = 200;

/**
 * Reads the repositories that the service file of one commit includes. Only their own branches are taken, never a
 * fork's, and each is read with its own credentials. What they include themselves is not followed: the file of the
 * environment's own repository names all of them, so there are no cycles.
 */
export class IncludedRepositories {
  readonly #source: Pick<Source, 'commitsOf' | 'snapshot'>;
  readonly #sources: IncludedSources;
  #statuses: IncludedRepositoryStatus[] = [];

  constructor(source: Pick<Source, 'commitsOf' | 'snapshot'>, sources: IncludedSources) {
    this.#source = source;
    this.#sources = sources;
  }

  /** What is known of each, also of those that could not be read, so that a push can fix it. */
  get statuses(): readonly IncludedRepositoryStatus[] {
    return this.#statuses;
  }

  /**
   * Finds the newest commit of each. All are tried before the first refusal is thrown: a repository whose commit is not
   * recorded would request a build at each of its syncs.
   */
  async resolve(repositories: readonly IncludedRepository[]): Promise<ResolvedRepository[]> {
    this.#statuses = [];
    const resolved: ResolvedRepository[] = [];
    let refusal: Stalled | undefined;
    for (const repository of repositories) {
      const branches = this.#branchesOf(repository);
      try {
        const found = await this.#find(repository, branches);
        resolved.push(found);
        this.#statuses.push({ name: repository.name, branches, branch: found.branch, commit: found.commit });
      } catch (error) {
        if (!(error instanceof Stalled)) throw error;
        refusal ??= error;
        const isKnown = this.#sources.canInclude(repository.name) || !this.#sources.mayBeFork();
        this.#statuses.push({ name: repository.name, branches: isKnown ? branches : [] });
      }
    }
    if (refusal) throw refusal;
    return resolved;
  }

  /** Reads the service file of a resolved repository, and plans its images. @throws Stalled when it must be corrected */
  async read(resolved: ResolvedRepository, options: ReadOptions): Promise<IncludedPart> {
    const { repository, branch, configuration } = resolved;
    const location: RefLocation = { access: configuration.host.access, refName: `refs/heads/${branch}` };
    const part = await refusing(repository.name, () =>
      this.#source.snapshot(location, async (snapshot) => {
        // Variables were not meant for another repository that took over the address.
        await configuration.confirmRepository();
        return readPart(resolved, snapshot, options);
      }),
    );
    const services = part.serviceFile.services.map(({ name }) => name);
    // The branch may have moved since it was resolved.
    this.#statuses = this.#statuses.map((one) =>
      one.name === repository.name ? { ...one, commit: part.commit, services } : one,
    );
    return part;
  }

  #branchesOf({ fallback }: IncludedRepository): string[] {
    const same = this.#sources.sourceBranch();
    const isUsable = same !== undefined && same.length <= maxBranchLength && isRefName(same);
    return [...new Set([...(isUsable ? [same] : []), ...(fallback === undefined ? [] : [fallback])])];
  }

  async #find(repository: IncludedRepository, branches: readonly string[]): Promise<ResolvedRepository> {
    const { name } = repository;
    const mayBeFork = this.#sources.mayBeFork();
    // A fork must not find out which other repositories there are.
    if (!this.#sources.canInclude(name)) throw mayBeFork ? notForForks(name) : missing(name);
    if (this.#sources.opensFurther(name)) throw opened(name);
    if (branches.length === 0) throw noBranch(name);
    const configuration = await this.#sources.configuration(name);
    const { access } = configuration.host;
    const names = branches.map((branch) => `refs/heads/${branch}`);
    const commits = await refusing(name, () => this.#source.commitsOf(access, names));
    for (const branch of branches) {
      const commit = commits.get(`refs/heads/${branch}`);
      const variables: Variables = mayBeFork ? new Map() : configuration.variables;
      if (commit !== undefined) return { repository, branch, commit, configuration, variables };
    }
    throw branchMissing(repository, branches);
  }
}

/** Returns what the including service file must know of these. */
export function servicesOf(parts: readonly IncludedPart[]): IncludedServices {
  const files = parts.map(({ serviceFile }) => serviceFile);
  const services = files.flatMap((file) => file.services);
  return {
    services: new Map(
      services.map(({ name, healthcheck, runs }) => [
        name,
        { hasHealthcheck: healthcheck !== undefined, runsOnce: runs !== 'continuously' },
      ]),
    ),
    aliases: new Set(files.flatMap(({ publicRoutes }) => publicRoutes.flatMap(({ alias }) => alias ?? []))),
  };
}

async function readPart(
  resolved: ResolvedRepository,
  snapshot: SourceSnapshot,
  { own: including, facts, build, platform, hashKey, watchBudget }: ReadOptions,
): Promise<IncludedPart> {
  const { repository, configuration, variables } = resolved;
  const { name, alias } = repository;
  const { commit, files } = snapshot;
  const own = new OwnVariables({ ...facts, commit, build });
  const read = await readServiceFile({
    ...{ files, variables, own, hashKey },
    settings: configuration.serviceFile,
    included: { hasAlias: alias !== undefined },
  });
  if (!read.serviceFile) throw invalid(name, read.errors.map(formatProblem));
  const { repositories = [], ...alone } = read.serviceFile;
  const { serviceFile: included } = asIncluded({ repository: name, serviceFile: alone }, alias);
  const serviceFile = onPlatform(included, platform);
  const { images, problems } = await planImages(serviceFile.services, snapshot, { hashKey, own }, watchBudget);
  if (problems.length > 0) throw invalid(name, problems);
  const others = repositories.map((one) => one.name).filter((other) => other !== including);
  const warnings = [
    ...read.warnings.map(formatProblem),
    ...(others.length === 0
      ? []
      : [
          `its own x-coppice.repositories (${others.join(', ')}) are not followed: name those that you need in ${including}`,
        ]),
  ];
  return {
    ...resolved,
    ...{ commit, serviceFile, contents: read.contents },
    images: images.map((image) => ({ ...image, included: name })),
    warnings: warnings.map((warning) => `${name}: ${warning}`),
    usesBuild: own.usesBuild,
  };
}

/** Converts a refusal of the Git host to Stalled. */
async function refusing<T>(name: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    if (!(cause instanceof SourceRefusedError)) throw cause;
    // The reason RefNotFound is that of the environment's own ref.
    const reason = cause.reason === 'RefNotFound' ? 'IncludedBranchNotFound' : cause.reason;
    throw new Stalled(reason, `the included repository ${name} could not be read: ${cause.message}`, { cause });
  }
}

function invalid(name: string, problems: readonly string[]): Stalled {
  return new Stalled('ServiceFileInvalid', problems.map((problem) => `${name}: ${problem}`).join('\n'));
}

function missing(name: string): Stalled {
  const message = `x-coppice.repositories: the group has no repository ${name}. Add it, or correct the name`;
  return new Stalled('IncludedRepositoryNotFound', message);
}

function notForForks(name: string): Stalled {
  const message =
    `x-coppice.repositories: the group has no repository ${name} that environments of forks can include. ` +
    'Set forks.canInclude in that Repository, or remove it';
  return new Stalled('IncludedRepositoryNotFound', message);
}

function opened(name: string): Stalled {
  const message =
    `x-coppice.repositories: ${name} cannot be included, because its access setting is stricter than that of this ` +
    'environment, or has another password. Set the same access, or members, for the environment or its Repository, ' +
    'then request a build';
  return new Stalled('IncludedAccessStricter', message);
}

function noBranch(name: string): Stalled {
  const message =
    `x-coppice.repositories: ${name} has no fallback, and no branch is searched for here: tags and pull requests of ` +
    'forks include only fallbacks, as do those of hosts that do not report their branches. Add a fallback';
  return new Stalled('IncludedBranchNotFound', message);
}

function branchMissing({ name, fallback }: IncludedRepository, branches: readonly string[]): Stalled {
  const named = branches.length > 1 ? `none of the branches ${branches.join(', ')}` : `no branch ${branches.join('')}`;
  const remedy =
    fallback === undefined ? 'Push it there, or name a fallback in x-coppice.repositories' : 'Push one there';
  return new Stalled('IncludedBranchNotFound', `the included repository ${name} has ${named}. ${remedy}`);
}
