import type { GitRef } from '../../crds/git-ref.ts';
import { readServiceFile } from '../../service-file/parse.ts';
import { formatProblem } from '../../service-file/problems.ts';
import type { ServiceFile } from '../../service-file/schema.ts';
import { platformLabels } from '../scheduling.ts';
import { planImages } from '../build/plan.ts';
import { Stalled } from '../errors.ts';
import { isInRegistry } from '../registry/own-registry.ts';
import type { RepositoryConfiguration } from '../repository/configuration.ts';
import { refNotFound, SourceRefusedError, SourceUnreachableError, waitWhileBusy } from '../source/errors.ts';
import type { RefPlace, Source, SourceSnapshot } from '../source/source.ts';
import { refusedForGood } from '../workloads/refusal.ts';
import { versionId, type Version, type VersionInput, type VersionPlace } from './version.ts';
import type { VersionStore } from './version-store.ts';

export interface PlanRequest {
  group: string;
  configuration: RepositoryConfiguration;
  ref: GitRef;
  /** Where the ref's commits are. */
  locate: () => Promise<RefPlace>;
  /** Whether those wrote it who may push to the repository; known once it is located. */
  isTrusted: () => boolean;
  /** Told which commit is read, also where it cannot be planned. */
  onCommit?: (commit: string) => void;
  place: VersionPlace;
  /** Nothing is known to be planned there yet, so that the commit is read without looking for its version. */
  isFirst?: boolean;
}

/** What a ref is planned as now. */
export interface PlannedVersion {
  version: string;
  commit: string;
}

export interface PlannerSettings {
  /** Coppice's registry: nobody's images are taken from there by name. */
  registry: string;
  /** Of services that name none; the builders' own without it. */
  platform?: string | undefined;
  /** The labels of the nodes that environments are kept to. */
  nodeSelector?: Record<string, string> | undefined;
  /** For how long a Git host that does not answer is asked again. */
  sourceDeadlineSeconds: number;
  /** Called as soon as it is known that a commit which is new here, of trusted code, names images to build. */
  onBuildAhead: (group: string) => void;
}

/** No two tries of one environment are further apart. */
const longestGapMs = 3600_000;

/** Finds out what a ref's newest commit says, asking the Git host for files only when that commit is new here. */
export class Planner {
  readonly #source: Source;
  readonly #versions: VersionStore;

  readonly #settings: PlannerSettings;
  readonly #now: () => Date;
  /** Since when an environment's Git host has not answered, by the namespace's UID. */
  readonly #silentSince = new Map<string, number>();

  constructor(source: Source, versions: VersionStore, settings: PlannerSettings, now: () => Date) {
    this.#source = source;
    this.#versions = versions;
    this.#settings = settings;
    this.#now = now;
  }

  /** What the ref would be planned as now; throws what Source.resolve does. */
  async newest(request: PlanRequest): Promise<PlannedVersion> {
    const commit = await this.#source.resolve(await request.locate(), request.ref);
    return { commit, version: versionId(this.#input(request, commit)) };
  }

  /**
   * Throws Stalled where the repository's author must act, Waiting while the host is busy, SourceUnreachableError while it
   * does not answer.
   */
  async plan(request: PlanRequest): Promise<Version> {
    const version = (await this.#known(request)) ?? (await this.#read(request));
    this.#silentSince.delete(request.place.namespaceUid);
    return version;
  }

  /** What is planned there of the ref's newest commit already; for the first plan neither host nor cluster is asked. */
  async #known(request: PlanRequest): Promise<Version | undefined> {
    if (request.isFirst) return undefined;
    const commit = await this.#resolve(request);
    return this.#versions.find(request.place, versionId(this.#input(request, commit)));
  }

  #resolve({ locate, ref, place }: PlanRequest): Promise<string> {
    return this.#told(place, async () => this.#source.resolve(await locate(), ref));
  }

  #read(request: PlanRequest): Promise<Version> {
    return this.#told(request.place, async () => {
      try {
        return await this.#source.snapshot(await request.locate(), (one) => this.#readSnapshot(request, one));
      } catch (error) {
        const isGone = error instanceof SourceRefusedError && error.reason === 'RefNotFound';
        throw isGone ? refNotFound(request.ref, error) : error;
      }
    });
  }

  async #readSnapshot(request: PlanRequest, snapshot: SourceSnapshot): Promise<Version> {
    // What the ref points to by now, which need not be what it pointed to when it was asked for.
    const input = this.#input(request, snapshot.commit);
    request.onCommit?.(snapshot.commit);
    const {
      serviceFile: read,
      contents,
      errors,
      warnings,
    } = await readServiceFile({
      files: snapshot.files,
      variables: input.variables,
      settings: input.serviceFile,
    });
    if (!read) throw new Stalled('ServiceFileInvalid', errors.map(formatProblem).join('\n'));
    const serviceFile = onPlatform(read, this.#settings.platform);
    if (input.trusted && serviceFile.services.some(({ build }) => build)) this.#settings.onBuildAhead(request.group);
    refuseForbiddenImages(serviceFile, this.#settings.registry);
    refuseForeignPlatforms(serviceFile, this.#settings.nodeSelector);
    const { images, problems } = await planImages(serviceFile.services, snapshot);
    if (problems.length > 0) throw new Stalled('ServiceFileInvalid', problems.join('\n'));
    const version = {
      id: versionId(input),
      commit: snapshot.commit,
      serviceFile,
      images,
      warnings: warnings.map(formatProblem),
      trusted: input.trusted,
    };
    try {
      return await this.#versions.save(request.place, version, contents);
    } catch (error) {
      throw refusedForGood(error);
    }
  }

  #input({ configuration, isTrusted }: PlanRequest, commit: string): VersionInput {
    const { variables, serviceFile } = configuration;
    const trusted = isTrusted();
    const { platform } = this.#settings;
    return { commit, trusted, serviceFile, platform, variables: trusted ? variables : new Map() };
  }

  /** Tells a refusal, and a silence beyond the deadline, as something that the user must act on. Busy is not silent. */
  async #told<T>({ namespaceUid }: VersionPlace, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (cause) {
      const error = waitWhileBusy(cause);
      if (error instanceof SourceUnreachableError && !this.#isOverdue(namespaceUid)) throw error;
      this.#silentSince.delete(namespaceUid);
      if (error instanceof SourceRefusedError) throw new Stalled(error.reason, error.message, { cause: error });
      if (!(error instanceof SourceUnreachableError)) throw error;
      const { sourceDeadlineSeconds } = this.#settings;
      const message = `${error.message}; it was asked for ${sourceDeadlineSeconds} s: see to the host, then ask for a build`;
      throw new Stalled('SourceUnreachable', message, { cause: error });
    }
  }

  #isOverdue(namespaceUid: string): boolean {
    const now = this.#now().getTime();
    const deadlineMs = this.#settings.sourceDeadlineSeconds * 1000;
    const since = this.#silentSince.get(namespaceUid) ?? now;
    // Of those that went while their host was silent nobody asks again. The first of the map was silent first.
    for (const [other, otherSince] of this.#silentSince) {
      if (now - otherSince < deadlineMs + longestGapMs) break;
      this.#silentSince.delete(other);
    }
    this.#silentSince.set(namespaceUid, since);
    return now - since >= deadlineMs;
  }
}

/** The services as they run here: those that name no platform are built for, and run on, the installation's. */
function onPlatform(serviceFile: ServiceFile, platform: string | undefined): ServiceFile {
  if (platform === undefined) return serviceFile;
  return {
    ...serviceFile,
    services: serviceFile.services.map((service) => ({ ...service, platform: service.platform ?? platform })),
  };
}

/** The administrator's labels of nodes count: a service of another architecture would be scheduled where it cannot run. */
function refuseForeignPlatforms({ services }: ServiceFile, nodeSelector: Record<string, string> = {}): void {
  for (const { name, platform } of services) {
    for (const [label, value] of Object.entries(platformLabels(platform))) {
      const kept = nodeSelector[label];
      if (kept === undefined || kept === value) continue;
      const why = `environments run on nodes with ${label}=${kept} alone. Remove the platform, or ask an administrator`;
      throw new Stalled('ServiceFileInvalid', `services.${name}.platform: ${platform} does not run here: ${why}`);
    }
  }
}

/**
 * The nodes hold and may pull every group's images: a service may take none of those, neither by Coppice's registry nor
 * by the bare digest of what a node has.
 */
function refuseForbiddenImages(serviceFile: ServiceFile, registry: string): void {
  for (const { name, image = '' } of serviceFile.services) {
    const isOwn = isInRegistry(registry, image);
    if (!isOwn && !/^sha256(:|@|$)/i.test(image)) continue;
    const why = isOwn ? "is in Coppice's own registry, whose images can only be built" : 'names no repository';
    throw new Stalled('ServiceFileInvalid', `services.${name}.image: ${image} ${why}`);
  }
}
