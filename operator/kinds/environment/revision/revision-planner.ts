import { textsToMask } from '../../../../build-logs/masking/texts-to-mask.ts';
import type { EnvironmentStatus } from '../../../../crds/environment.ts';
import type { GitRef } from '../../../../crds/git-ref.ts';
import type { IncludedCommit, IncludedRepositoryStatus } from '../../../../crds/included-repository.ts';
import { containerVariables, type EnvironmentFacts, OwnVariables } from '../../../../service-file/own-variables.ts';
import { combineRepositories } from '../../../../service-file/combine-repositories.ts';
import type { FileContents } from '../../../../service-file/files.ts';
import { readServiceFile, type ServiceFileSettings } from '../../../../service-file/parse.ts';
import { formatProblem } from '../../../../service-file/problems.ts';
import type { FileBundle, IncludedRepository, ServiceFile } from '../../../../service-file/schema.ts';
import type { Variable } from '../../../../service-file/variables.ts';
import { storedAt } from '../../../../service-file/stored-file.ts';
import { platformLabels } from '../../../shared/scheduling.ts';
import { planImages, type PlannedImage } from '../../../images/plan/image-plan.ts';
import { WatchBudget } from '../../../images/plan/watch.ts';
import { Stalled, userMustAct } from '../../../shared/errors.ts';
import { isInRegistry } from '../../../images/registry/own-registry.ts';
import type { RepositoryConfiguration } from '../../repository/configuration.ts';
import {
  HostBusyError,
  KeyNotAcceptedError,
  refNotFound,
  SourceRefusedError,
  SourceUnreachableError,
  waitWhileBusy,
} from '../../../source/errors.ts';
import type { RefLocation, Source, SourceSnapshot } from '../../../source/git/source.ts';
import { refusedForGood } from '../../../services/diagnosis/refusal.ts';
import type { ContentBudget } from './content-budget.ts';
import { hideSecrets } from './hide-secrets.ts';
import {
  type IncludedPart,
  IncludedRepositories,
  type IncludedSources,
  type ResolvedRepository,
  servicesOf,
} from './included-repositories.ts';
import { secretTexts } from './revision-objects.ts';
import {
  idWithIncluded,
  type IncludedInput,
  numberedId,
  retiredRevisions,
  revisionId,
  type Revision,
  type RevisionInput,
  type RevisionLocation,
} from './revision.ts';
import { onPlatform } from './on-platform.ts';
import type { RevisionStore } from './revision-store.ts';

export interface PlanRequest {
  group: string;
  /** Key of the Environment. */
  environment: string;
  configuration: RepositoryConfiguration;
  ref: GitRef;
  /** What is known about the environment, apart from its commits. */
  facts: Omit<EnvironmentFacts, 'registry'>;
  /** Number of the build that is planned, or of the next one. */
  build: number;
  /** Returns the location of the ref's commits. */
  locate: () => Promise<RefLocation>;
  /** Whether only people with push access wrote the code; known once the ref is located. */
  isTrusted: () => boolean;
  /** Throws Waiting if this commit must not be read, because it is a fork's that nobody has approved. */
  requireApproval: (commit: string) => void;
  /** The other repositories that the service file can include; known, as the trust, once the ref is located. */
  included: IncludedSources;
  location: RevisionLocation;
  /** IDs of the revisions that the status references. */
  kept: readonly string[];
  /** Whether nothing has been planned there yet: the commit is read without looking for its revision. */
  isFirst?: boolean;
}

/** The revision and commit of a ref. */
export interface PlannedRevision {
  /** IDs that it can have: one if it contains the build's number, the other if not. */
  revisions: string[];
  commit: string;
  /** Commits of the included repositories; empty if it is unknown which they are. */
  repositories?: readonly IncludedCommit[];
}

/** The revision of a ref's newest commit; empty if the Git host does not respond. */
export interface NewestVersion {
  planned?: PlannedRevision;
  /** When to retry because the Git host is busy. */
  retryAfterMs?: number;
}

/** The user must act on the service file of this commit, or on what it references. */
export class CommitRefused extends Stalled {
  readonly commit: string;
  /** The included repositories, if it is known which they are. */
  readonly repositories: readonly IncludedRepositoryStatus[] | undefined;

  constructor(commit: string, { reason, message, cause }: Stalled, repositories?: readonly IncludedRepositoryStatus[]) {
    super(reason, message, { cause });
    this.commit = commit;
    this.repositories = repositories;
  }
}

export interface RevisionPlannerSettings {
  /** Coppice's registry; services must not reference images in it. */
  registry: string;
  /** Platform of services that set none; defaults to the builders' own. */
  platform?: string | undefined;
  /** Labels of the nodes that environments are restricted to. */
  nodeSelector?: Record<string, string> | undefined;
  /** How long requests to a Git host that does not respond are retried. */
  sourceDeadlineSeconds: number;
  /** Returns the key of hashes that are public but whose inputs are secret. */
  hashKey: () => Promise<Uint8Array>;
  /** Limits what commits make the operator write. */
  budget: Pick<ContentBudget, 'requireWrites' | 'of'>;
  /** Called as soon as a commit of trusted code turns out to be new here and to have images to build. */
  onBuildAhead: (group: string) => void;
}

/** Maximum interval between two tries of one environment. */
const maxGapMs = 3600_000;

/**
 * Plans a ref's newest commit, reading files from the Git host only if the commit is new here, and finds existing
 * revisions.
 */
export class RevisionPlanner {
  readonly #source: Source;
  readonly #revisions: RevisionStore;

  readonly #settings: RevisionPlannerSettings;
  readonly #now: () => Date;
  /** When an environment's Git host stopped responding, by the namespace's UID. */
  readonly #silentSince = new Map<string, number>();

  constructor(source: Source, revisions: RevisionStore, settings: RevisionPlannerSettings, now: () => Date) {
    this.#source = source;
    this.#revisions = revisions;
    this.#settings = settings;
    this.#now = now;
  }

  /** Returns the revision of the ref's newest commit. A Git host that does not respond delays nothing. */
  newest(request: PlanRequest): Promise<NewestVersion> {
    return asNewest(async () => {
      const commit = await this.#source.resolve(await request.locate(), request.ref);
      request.requireApproval(commit);
      return { commit, ...(await this.#knownIds(request, commit)) };
    });
  }

  /** Returns an existing revision by its id. */
  find(location: RevisionLocation, id: string | undefined): Promise<Revision | undefined> {
    return id === undefined ? Promise.resolve(undefined) : this.#revisions.find(location, id);
  }

  /** Returns how many bytes these revisions store together. */
  bytesOf(location: RevisionLocation, ids: readonly string[]): Promise<number> {
    return this.#revisions.bytesOf(location, ids);
  }

  /** Deletes the revisions that the status referenced before and no longer does. */
  async retire(location: RevisionLocation, before: EnvironmentStatus, after: EnvironmentStatus): Promise<void> {
    const { retired, kept } = retiredRevisions(before, after);
    await this.#revisions.retire(location, retired, kept);
  }

  /**
   * Plans the ref's newest commit. Throws Stalled if the repository's author must act, Waiting while the host is busy or
   * the tenant has written too much, SourceUnreachableError while it does not respond, and CommitRefused if a commit was read but must be corrected.
   */
  async plan(request: PlanRequest): Promise<Revision> {
    const revision = (await this.#known(request)) ?? (await this.#read(request));
    this.#silentSince.delete(request.location.namespaceUid);
    return revision;
  }

  /** Returns the existing revision of the ref's newest commit; the first plan asks neither host nor cluster. */
  async #known(request: PlanRequest): Promise<Revision | undefined> {
    if (request.isFirst) return undefined;
    const commit = await this.#resolve(request);
    request.requireApproval(commit);
    const { revisions } = await this.#withDeadline(request.location, () => this.#knownIds(request, commit));
    for (const id of revisions) {
      const known = await this.#revisions.find(request.location, id);
      if (known) return known;
    }
    return undefined;
  }

  #resolve({ locate, ref, location }: PlanRequest): Promise<string> {
    return this.#withDeadline(location, async () => this.#source.resolve(await locate(), ref));
  }

  #read(request: PlanRequest): Promise<Revision> {
    this.#settings.budget.requireWrites(request.group);
    return this.#withDeadline(request.location, async () => {
      try {
        return await this.#source.snapshot(await request.locate(), async (one) => {
          request.requireApproval(one.commit);
          // A commit that was planned before needs no such check: its ID determines its content.
          await request.configuration.confirmRepository();
          return this.#planSnapshot(request, one);
        });
      } catch (error) {
        const isGone = error instanceof SourceRefusedError && error.reason === 'RefNotFound';
        throw isGone ? refNotFound(request.ref, error) : error;
      }
    });
  }

  async #planSnapshot(request: PlanRequest, snapshot: SourceSnapshot): Promise<Revision> {
    const others = new IncludedRepositories(this.#source, request.included);
    try {
      return await this.#readSnapshot(request, snapshot, others);
    } catch (cause) {
      const error = userMustAct(cause);
      if (!(error instanceof Stalled)) throw error;
      const { statuses } = others;
      throw new CommitRefused(snapshot.commit, error, statuses.length > 0 ? statuses : undefined);
    }
  }

  async #readSnapshot(request: PlanRequest, snapshot: SourceSnapshot, others: IncludedRepositories): Promise<Revision> {
    // The ref may have moved since it was resolved.
    const input = this.#input(request, snapshot.commit);
    const hashKey = await this.#settings.hashKey();
    const own = new OwnVariables({ ...input.facts, commit: snapshot.commit, build: request.build });
    const watchBudget = new WatchBudget();
    const repository = nameOf(input.facts);
    const parts: IncludedPart[] = [];
    const include = async (repositories: readonly IncludedRepository[]) => {
      if (repositories.some(({ name }) => name === repository)) throw includesItself(repository);
      const { platform } = this.#settings;
      const options = { own: repository, facts: input.facts, build: request.build, platform, hashKey, watchBudget };
      for (const one of await others.resolve(repositories)) parts.push(await others.read(one, options));
      return servicesOf(parts);
    };
    const {
      serviceFile: read,
      contents: ownContents,
      errors,
      warnings,
    } = await readServiceFile({
      files: snapshot.files,
      variables: input.variables,
      own,
      settings: input.serviceFile,
      hashKey,
      include,
    });
    if (!read) throw new Stalled('ServiceFileInvalid', errors.map(formatProblem).join('\n'));
    const combined = withIncluded(repository, read, parts);
    const contents = contentsOf([ownContents, ...parts.map((part) => part.contents)]);
    const serviceFile = onPlatform(combined, this.#settings.platform);
    if (input.trusted && serviceFile.services.some(({ build }) => build)) this.#settings.onBuildAhead(request.group);
    refuseForbiddenImages(serviceFile, this.#settings.registry);
    refuseForeignPlatforms(serviceFile, this.#settings.nodeSelector);
    const { images: ownImages, problems } = await planImages(
      serviceFile.services.filter(({ name }) => read.services.some((service) => service.name === name)),
      snapshot,
      { hashKey, own },
      watchBudget,
    );
    if (problems.length > 0) throw new Stalled('ServiceFileInvalid', problems.join('\n'));
    const images = [...ownImages, ...parts.flatMap((part) => part.images)];
    const masked = textsToMask(parts.flatMap(({ variables }) => [...variables.values()]));
    const secrets = [
      ...textsToMask([...input.variables.values()]),
      ...masked,
      ...secretTexts({ serviceFile }, contents),
    ];
    const { services, hidden, warnings: omissions } = hideSecrets(serviceFile.services, secrets, hashKey);
    const [id, numbered] = await this.#idsOf(request, input, parts);
    const revision = {
      id: own.usesBuild || parts.some(({ usesBuild }) => usesBuild) ? numbered : id,
      ...{ commit: snapshot.commit, author: snapshot.author, subject: snapshot.subject },
      serviceFile: { ...serviceFile, services },
      images: images.map((image) => withStoredSecrets(image, serviceFile.bundles)),
      warnings: [...warnings.map(formatProblem), ...parts.flatMap((part) => part.warnings), ...omissions],
      trusted: input.trusted,
      own: containerVariables(input.facts),
      hidden,
      ...(parts.length > 0 && {
        ...{ repositories: [...others.statuses], masked },
        base: revisionId(hashKey, input),
      }),
    };
    try {
      const { group, environment, kept } = request;
      const budget = this.#settings.budget.of(group, environment);
      return await this.#revisions.save(request.location, revision, contents, { kept, budget });
    } catch (error) {
      throw refusedForGood(error);
    }
  }

  async #idsOf(
    { build }: PlanRequest,
    input: RevisionInput,
    included: readonly ResolvedRepository[] = [],
  ): Promise<[plain: string, numbered: string]> {
    const hashKey = await this.#settings.hashKey();
    const base = revisionId(hashKey, input);
    const id = included.length === 0 ? base : idWithIncluded(hashKey, base, included.map(inputOf));
    return [id, numberedId(id, build)];
  }

  /**
   * Returns the IDs of a commit's revision. Which repositories it includes is known only of a commit that was planned
   * before; a new one has none of these IDs.
   */
  async #knownIds(
    request: PlanRequest,
    commit: string,
  ): Promise<Required<Pick<PlannedRevision, 'revisions' | 'repositories'>>> {
    const input = this.#input(request, commit);
    const base = revisionId(await this.#settings.hashKey(), input);
    const planned = await Promise.all(request.kept.map((id) => this.find(request.location, id)));
    const named = planned.find((revision) => revision?.base === base)?.serviceFile.repositories;
    const included = named === undefined ? [] : await this.#resolveIncluded(request, named);
    const repositories = included.map(({ repository: { name }, branch, commit: at }) => ({ name, branch, commit: at }));
    return { revisions: await this.#idsOf(request, input, included), repositories };
  }

  /** Returns the newest commits of included repositories; empty if one is refused, which the next plan reports. */
  async #resolveIncluded(
    { included }: PlanRequest,
    named: readonly IncludedRepository[],
  ): Promise<readonly ResolvedRepository[]> {
    try {
      return await new IncludedRepositories(this.#source, included).resolve(named);
    } catch (error) {
      if (error instanceof Stalled) return [];
      throw error;
    }
  }

  #input({ configuration, isTrusted, facts: known }: PlanRequest, commit: string): RevisionInput {
    const { variables, serviceFile } = configuration;
    const trusted = isTrusted();
    const { platform, registry } = this.#settings;
    const facts = { ...known, registry };
    const inputs = trusted
      ? { variables, serviceFile }
      : { variables: new Map<string, Variable>(), serviceFile: withoutOverrides(serviceFile) };
    return { commit, trusted, platform, facts, ...inputs };
  }

  /**
   * Reports a refusal, and silence beyond the deadline, as an error that the user must act on. A busy host is not
   * silent.
   */
  async #withDeadline<T>({ namespaceUid }: RevisionLocation, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (cause) {
      const error = waitWhileBusy(cause);
      if (error instanceof SourceUnreachableError && !this.#isOverdue(namespaceUid)) throw error;
      this.#silentSince.delete(namespaceUid);
      if (error instanceof SourceRefusedError) throw new Stalled(error.reason, error.message, { cause: error });
      if (!(error instanceof SourceUnreachableError)) throw error;
      const { sourceDeadlineSeconds } = this.#settings;
      const message = `${error.message} for ${sourceDeadlineSeconds} s. Check the host, then request a build`;
      throw new Stalled('SourceUnreachable', message, { cause: error });
    }
  }

  #isOverdue(namespaceUid: string): boolean {
    const now = this.#now().getTime();
    const deadlineMs = this.#settings.sourceDeadlineSeconds * 1000;
    const since = this.#silentSince.get(namespaceUid) ?? now;
    // Environments that were deleted while their host was silent are never asked for again. The map's first entry is the
    // oldest.
    for (const [other, otherSince] of this.#silentSince) {
      if (now - otherSince < deadlineMs + maxGapMs) break;
      this.#silentSince.delete(other);
    }
    this.#silentSince.set(namespaceUid, since);
    return now - since >= deadlineMs;
  }
}

function withoutOverrides({ mode, content }: ServiceFileSettings): ServiceFileSettings {
  return { mode, ...(content !== undefined && { content }) };
}

/** Returns what the Git host reports, or nothing if it is silent or refuses. */
export async function asNewest(ask: () => Promise<PlannedRevision>): Promise<NewestVersion> {
  try {
    return { planned: await ask() };
  } catch (error) {
    if (error instanceof HostBusyError) return { retryAfterMs: error.retryAfterMs };
    const silences = [SourceRefusedError, SourceUnreachableError, KeyNotAcceptedError];
    if (silences.some((silence) => error instanceof silence)) return {};
    throw error;
  }
}

function inputOf({ repository, branch, commit, configuration, variables }: ResolvedRepository): IncludedInput {
  const { repositoryUid, serviceFile } = configuration;
  return { name: repository.name, repositoryUid, branch, commit, variables, serviceFile };
}

/** Returns the name of the environment's own repository. */
function nameOf({ repository, group }: Pick<EnvironmentFacts, 'repository' | 'group'>): string {
  return repository.slice(group.length + 1);
}

function includesItself(name: string): Stalled {
  const message = `x-coppice.repositories: ${name} is the repository of the file itself, which is always part of it. Remove it`;
  return new Stalled('ServiceFileInvalid', message);
}

/** Returns the service file with those of the included repositories. */
function withIncluded(repository: string, serviceFile: ServiceFile, parts: readonly IncludedPart[]): ServiceFile {
  if (parts.length === 0) return serviceFile;
  const included = parts.map((part) => ({ repository: part.repository.name, serviceFile: part.serviceFile }));
  const { serviceFile: combined, problems } = combineRepositories({ repository, serviceFile }, included);
  if (problems.length > 0) throw new Stalled('ServiceFileInvalid', problems.join('\n'));
  return combined;
}

/** Returns the contents of all repositories' files: an object's name is the hash of its contents. */
function contentsOf(all: readonly FileContents[]): FileContents {
  return new Map(all.flatMap((contents) => [...contents]));
}

/** Returns the image with its build secrets named by the Secret and key that store them. */
function withStoredSecrets(image: PlannedImage, bundles: readonly FileBundle[]): PlannedImage {
  const secrets = image.secrets.map((secret) => {
    const bundle = bundles.find(({ name }) => name === secret.bundle);
    const file = bundle?.files.find(({ key }) => key === secret.key);
    if (!bundle || !file) throw new Error(`the service file has no bundle ${secret.bundle} for its build secret`);
    const { object, key } = storedAt(bundle, file);
    return { ...secret, bundle: object, key };
  });
  return { ...image, secrets };
}

/** A service of another architecture than the permitted nodes would be scheduled where it cannot run. */
function refuseForeignPlatforms({ services }: ServiceFile, nodeSelector: Record<string, string> = {}): void {
  for (const { name, platform } of services) {
    for (const [label, value] of Object.entries(platformLabels(platform))) {
      const kept = nodeSelector[label];
      if (kept === undefined || kept === value) continue;
      const why = `environments run on nodes with ${label}=${kept} only. Remove the platform, or ask an administrator`;
      throw new Stalled('ServiceFileInvalid', `services.${name}.platform: ${platform} does not run here: ${why}`);
    }
  }
}

/**
 * Refuses images of Coppice's own registry. Nodes can pull every group's images from it, and have some of them already,
 * so a service that named one by the registry's address or by a bare digest could run another group's image.
 */
function refuseForbiddenImages(serviceFile: ServiceFile, registry: string): void {
  for (const { name, image = '' } of serviceFile.services) {
    const isOwn = isInRegistry(registry, image);
    if (!isOwn && !/^sha256(:|@|$)/i.test(image)) continue;
    const why = isOwn
      ? "is in Coppice's own registry, whose images cannot be referenced. Build it, or name another image"
      : 'is a digest without the name of an image. Write the name, with a tag or the digest, such as redis:7';
    throw new Stalled('ServiceFileInvalid', `services.${name}.image: ${image} ${why}`);
  }
}
