import { textsToMask } from '../../../../build-logs/mask-candidates.ts';
import type { EnvironmentStatus } from '../../../../crds/environment.ts';
import type { GitRef } from '../../../../crds/git-ref.ts';
import { containerVariables, type EnvironmentFacts, OwnVariables } from '../../../../service-file/own-variables.ts';
import { readServiceFile } from '../../../../service-file/parse.ts';
import { formatProblem } from '../../../../service-file/problems.ts';
import type { FileBundle, ServiceFile } from '../../../../service-file/schema.ts';
import { storedAt } from '../../../../service-file/stored-file.ts';
import { platformLabels } from '../../../shared/scheduling.ts';
import { planImages, type PlannedImage } from '../../../images/plan/image-plan.ts';
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
import { secretTexts } from './revision-objects.ts';
import {
  numberedId,
  retiredRevisions,
  revisionId,
  type Revision,
  type RevisionInput,
  type RevisionLocation,
} from './revision.ts';
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

  constructor(commit: string, { reason, message, cause }: Stalled) {
    super(reason, message, { cause });
    this.commit = commit;
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
      return { commit, revisions: await this.#idsOf(request, this.#input(request, commit)) };
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
    for (const id of await this.#idsOf(request, this.#input(request, commit))) {
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
    try {
      return await this.#readSnapshot(request, snapshot);
    } catch (cause) {
      const error = userMustAct(cause);
      throw error instanceof Stalled ? new CommitRefused(snapshot.commit, error) : error;
    }
  }

  async #readSnapshot(request: PlanRequest, snapshot: SourceSnapshot): Promise<Revision> {
    // The ref may have moved since it was resolved.
    const input = this.#input(request, snapshot.commit);
    const hashKey = await this.#settings.hashKey();
    const own = new OwnVariables({ ...input.facts, commit: snapshot.commit, build: request.build });
    const {
      serviceFile: read,
      contents,
      errors,
      warnings,
    } = await readServiceFile({
      files: snapshot.files,
      variables: input.variables,
      own,
      settings: input.serviceFile,
      hashKey,
    });
    if (!read) throw new Stalled('ServiceFileInvalid', errors.map(formatProblem).join('\n'));
    const serviceFile = onPlatform(read, this.#settings.platform);
    if (input.trusted && serviceFile.services.some(({ build }) => build)) this.#settings.onBuildAhead(request.group);
    refuseForbiddenImages(serviceFile, this.#settings.registry);
    refuseForeignPlatforms(serviceFile, this.#settings.nodeSelector);
    const { images, problems } = await planImages(serviceFile.services, snapshot, { hashKey, own });
    if (problems.length > 0) throw new Stalled('ServiceFileInvalid', problems.join('\n'));
    const secrets = [...textsToMask([...input.variables.values()]), ...secretTexts({ serviceFile }, contents)];
    const { services, hidden, warnings: omissions } = hideSecrets(serviceFile.services, secrets, hashKey);
    const [id, numbered] = await this.#idsOf(request, input);
    const revision = {
      id: own.usesBuild ? numbered : id,
      ...{ commit: snapshot.commit, author: snapshot.author, subject: snapshot.subject },
      serviceFile: { ...serviceFile, services },
      images: images.map((image) => withStoredSecrets(image, serviceFile.bundles)),
      warnings: [...warnings.map(formatProblem), ...omissions],
      trusted: input.trusted,
      own: containerVariables(input.facts),
      hidden,
    };
    try {
      const { group, environment, kept } = request;
      const budget = this.#settings.budget.of(group, environment);
      return await this.#revisions.save(request.location, revision, contents, { kept, budget });
    } catch (error) {
      throw refusedForGood(error);
    }
  }

  async #idsOf({ build }: PlanRequest, input: RevisionInput): Promise<[plain: string, numbered: string]> {
    const id = revisionId(await this.#settings.hashKey(), input);
    return [id, numberedId(id, build)];
  }

  #input({ configuration, isTrusted, facts: known }: PlanRequest, commit: string): RevisionInput {
    const { variables, serviceFile } = configuration;
    const trusted = isTrusted();
    const { platform, registry } = this.#settings;
    const facts = { ...known, registry };
    return { commit, trusted, serviceFile, platform, facts, variables: trusted ? variables : new Map() };
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

/** Returns the services for this installation: those without a platform get its default. */
function onPlatform(serviceFile: ServiceFile, platform: string | undefined): ServiceFile {
  if (platform === undefined) return serviceFile;
  return {
    ...serviceFile,
    services: serviceFile.services.map((service) => ({ ...service, platform: service.platform ?? platform })),
  };
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
