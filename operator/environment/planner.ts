import type { GitRef } from '../../crds/git-ref.ts';
import { planImages } from '../build/plan.ts';
import { Stalled } from '../errors.ts';
import { serviceFileOfDockerfile } from '../service-file/dockerfile.ts';
import { findServiceFile } from '../service-file/find.ts';
import { parseServiceFile } from '../service-file/parse.ts';
import { formatProblem } from '../service-file/problems.ts';
import type { ServiceFile } from '../service-file/schema.ts';
import { SourceRefusedError, SourceUnreachableError } from '../source/errors.ts';
import type { Source, SourceAccess, SourceSnapshot } from '../source/source.ts';
import type { Version } from './version.ts';
import type { VersionPlace, VersionStore } from './version-store.ts';

export interface PlanRequest {
  access: SourceAccess;
  ref: GitRef;
  place: VersionPlace;
}

export interface PlannerSettings {
  /** Coppice's registry: nobody's images are taken from there by name. */
  registry: string;
  /** For how long a Git host that does not answer is asked again. */
  sourceDeadlineSeconds: number;
}

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

  /** The commit that the ref points to now; throws as plan() does. */
  async newestCommit(request: PlanRequest): Promise<string> {
    const commit = await this.#resolve(request);
    this.#silentSince.delete(request.place.namespaceUid);
    return commit;
  }

  /** Throws Stalled where the repository's author must act, SourceUnreachableError while the host does not answer. */
  async plan(request: PlanRequest): Promise<Version> {
    const { place } = request;
    const commit = await this.#resolve(request);
    const known = await this.#versions.find(place, commit);
    const version = known ?? (await this.#read(request));
    this.#silentSince.delete(place.namespaceUid);
    return known ? version : this.#versions.save(place, version);
  }

  #resolve({ access, ref, place }: PlanRequest): Promise<string> {
    return this.#told(place, () => this.#source.resolve(access, ref));
  }

  #read({ access, ref, place }: PlanRequest): Promise<Version> {
    return this.#told(place, () =>
      this.#source.snapshot(access, ref, (snapshot) => readVersion(snapshot, this.#settings.registry)),
    );
  }

  /** Tells a refusal, and a silence beyond the deadline, as something that the user must act on. */
  async #told<T>({ namespaceUid }: VersionPlace, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
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
    const since = this.#silentSince.get(namespaceUid) ?? now;
    this.#silentSince.set(namespaceUid, since);
    return now - since >= this.#settings.sourceDeadlineSeconds * 1000;
  }
}

async function readVersion(snapshot: SourceSnapshot, registry: string): Promise<Version> {
  const rootFiles = snapshot.entries.filter(({ path, type }) => type === 'file' && !path.includes('/'));
  const found = findServiceFile(rootFiles.map(({ path }) => path));
  if (found.kind === 'missing' || found.kind === 'misnamed') throw new Stalled('ServiceFileMissing', found.message);
  const text = await snapshot.readFile(found.name);
  const { serviceFile, errors, warnings } =
    found.kind === 'dockerfile' ? serviceFileOfDockerfile(text) : parseServiceFile(text);
  const inFile = (problem: (typeof errors)[number]) => formatProblem(found.name, problem);
  if (!serviceFile) throw new Stalled('ServiceFileInvalid', errors.map(inFile).join('\n'));
  refuseForbiddenImages(serviceFile, registry);
  return version(snapshot, serviceFile, warnings.map(inFile));
}

function version(snapshot: SourceSnapshot, serviceFile: ServiceFile, warnings: string[]): Version {
  const { images, problems } = planImages(serviceFile.services, snapshot.entries);
  if (problems.length > 0) throw new Stalled('ServiceFileInvalid', problems.join('\n'));
  return { commit: snapshot.commit, serviceFile, images, warnings };
}

/**
 * The nodes hold and may pull every group's images: a service may take none of those, neither by Coppice's registry nor
 * by the bare digest of what a node has.
 */
function refuseForbiddenImages(serviceFile: ServiceFile, registry: string): void {
  for (const { name, image = '' } of serviceFile.services) {
    const isOwn = image.toLowerCase().startsWith(`${registry.toLowerCase()}/`);
    if (!isOwn && !/^sha256(:|@|$)/i.test(image)) continue;
    const why = isOwn ? "is in Coppice's own registry, whose images can only be built" : 'names no repository';
    throw new Stalled('ServiceFileInvalid', `services.${name}.image: ${image} ${why}`);
  }
}
