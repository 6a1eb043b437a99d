import type { EnvironmentStatus } from '../../../../crds/environment.ts';
import type { IncludedCommit } from '../../../../crds/included-repository.ts';
import type { ServiceFileSettings } from '../../../../service-file/parse.ts';
import type { IncludedRepository } from '../../../../service-file/schema.ts';
import type { Variable } from '../../../../service-file/variables.ts';
import { refusedForGood } from '../../../services/diagnosis/refusal.ts';
import { Stalled, userMustAct } from '../../../shared/errors.ts';
import {
  HostBusyError,
  KeyNotAcceptedError,
  refNotFound,
  SourceRefusedError,
  SourceUnreachableError,
} from '../../../source/errors.ts';
import type { Source, SourceSnapshot } from '../../../source/git/source.ts';
import type { ContentBudget } from './content-budget.ts';
import { IncludedRepositories, type ResolvedRepository } from './included-repositories.ts';
import { type CommitPlanSettings, planCommit } from './plan-commit.ts';
import { CommitRefused, type PlanRequest } from './plan-request.ts';
import { type RevisionInput, revisionId, revisionIds } from './revision-id.ts';
import { retiredRevisions, type Revision, type RevisionLocation } from './revision.ts';
import type { RevisionStore } from './revision-store.ts';
import { SourceDeadline } from './source-deadline.ts';

/** The revision and commit of a ref. */
export interface PlannedRevision {
  /** IDs that it can have: one if it contains the build's number, the other if not. */
  revisions: string[];
  commit: string;
  /** Commits of the included repositories; empty if it is unknown which they are. */
  repositories?: readonly IncludedCommit[];
}

/** The revision of a ref's newest commit; empty if the Git host does not respond. */
export interface NewestRevision {
  planned?: PlannedRevision;
  /** When to retry because the Git host is busy. */
  retryAfterMs?: number;
}

export interface RevisionPlannerSettings extends Omit<CommitPlanSettings, 'hashKey' | 'onBuildAhead'> {
  /** How long requests to a Git host that does not respond are retried. */
  sourceDeadlineSeconds: number;
  /** Returns the key of hashes that are public but whose inputs are secret. */
  hashKey: () => Promise<Uint8Array>;
  /** Limits what commits make the operator write. */
  budget: Pick<ContentBudget, 'requireWrites' | 'of'>;
  /** Called as soon as a commit of trusted code turns out to be new here and to have images to build. */
  onBuildAhead: (group: string) => void;
}

/**
 * Plans a ref's newest commit, reading files from the Git host only if the commit is new here, and finds existing
 * revisions.
 */
export class RevisionPlanner {
  readonly #source: Source;
  readonly #revisions: RevisionStore;

  readonly #settings: RevisionPlannerSettings;
  readonly #deadline: SourceDeadline;

  constructor(source: Source, revisions: RevisionStore, settings: RevisionPlannerSettings, now: () => Date) {
    this.#source = source;
    this.#revisions = revisions;
    this.#settings = settings;
    this.#deadline = new SourceDeadline(settings.sourceDeadlineSeconds, now);
  }

  /** Returns the revision of the ref's newest commit. A Git host that does not respond delays nothing. */
  newest(request: PlanRequest): Promise<NewestRevision> {
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
    this.#deadline.end(request.location.namespaceUid);
    return revision;
  }

  /** Returns the existing revision of the ref's newest commit; the first plan asks neither host nor cluster. */
  async #known(request: PlanRequest): Promise<Revision | undefined> {
    if (request.isFirst) return undefined;
    const commit = await this.#resolve(request);
    request.requireApproval(commit);
    const { revisions } = await this.#deadline.ask(request.location.namespaceUid, () =>
      this.#knownIds(request, commit),
    );
    for (const id of revisions) {
      const known = await this.#revisions.find(request.location, id);
      if (known) return known;
    }
    return undefined;
  }

  #resolve({ locate, ref, location }: PlanRequest): Promise<string> {
    return this.#deadline.ask(location.namespaceUid, async () => this.#source.resolve(await locate(), ref));
  }

  #read(request: PlanRequest): Promise<Revision> {
    this.#settings.budget.requireWrites(request.group);
    return this.#deadline.ask(request.location.namespaceUid, async () => {
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
    const included = new IncludedRepositories(this.#source, request.included);
    try {
      return await this.#planAndSave(request, snapshot, included);
    } catch (cause) {
      const error = userMustAct(cause);
      if (!(error instanceof Stalled)) throw error;
      const { statuses } = included;
      throw new CommitRefused(snapshot.commit, error, statuses.length > 0 ? statuses : undefined);
    }
  }

  async #planAndSave(
    request: PlanRequest,
    snapshot: SourceSnapshot,
    included: IncludedRepositories,
  ): Promise<Revision> {
    const { group, environment, build, location, kept } = request;
    // The ref may have moved since it was resolved.
    const input = this.#input(request, snapshot.commit);
    const hashKey = await this.#settings.hashKey();
    const onBuildAhead = () => this.#settings.onBuildAhead(group);
    const { revision, contents } = await planCommit(
      { snapshot, input, build, included },
      { ...this.#settings, hashKey, onBuildAhead },
    );
    try {
      const budget = this.#settings.budget.of(group, environment);
      return await this.#revisions.save(location, revision, contents, { kept, budget });
    } catch (error) {
      throw refusedForGood(error);
    }
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
    const hashKey = await this.#settings.hashKey();
    const base = revisionId(hashKey, input);
    const planned = await Promise.all(request.kept.map((id) => this.find(request.location, id)));
    const named = planned.find((revision) => revision?.base === base)?.serviceFile.repositories;
    const included = named === undefined ? [] : await this.#resolveIncluded(request, named);
    const repositories = included.map(({ repository: { name }, branch, commit: at }) => ({ name, branch, commit: at }));
    const { plain, numbered } = revisionIds(hashKey, input, { build: request.build, included });
    return { revisions: [plain, numbered], repositories };
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
}

function withoutOverrides({ mode, content }: ServiceFileSettings): ServiceFileSettings {
  return { mode, ...(content !== undefined && { content }) };
}

/** Returns what the Git host reports, or nothing if it is silent or refuses. */
export async function asNewest(ask: () => Promise<PlannedRevision>): Promise<NewestRevision> {
  try {
    return { planned: await ask() };
  } catch (error) {
    if (error instanceof HostBusyError) return { retryAfterMs: error.retryAfterMs };
    const silences = [SourceRefusedError, SourceUnreachableError, KeyNotAcceptedError];
    if (silences.some((silence) => error instanceof silence)) return {};
    throw error;
  }
}
