import { findCondition, type ConditionReport } from '../../crds/conditions.ts';
import type { BuildStatus, Environment, EnvironmentStatus } from '../../crds/environment.ts';
import { groupOfNamespace, type ResourceId } from '../../crds/ids.ts';
import { environmentNamespace } from '../../crds/names.ts';
import { keyOf } from '../../kubernetes/resource-type.ts';
import type { RefPlace } from '../source/source.ts';
import type { RepositoryConfiguration } from '../repository/configuration.ts';
import { awaitsTurn } from './activation.ts';
import { ConditionReports, type EnvironmentCondition } from './condition-reports.ts';
import { ownedLabels } from './owned-labels.ts';
import { locateRef } from './ref-place.ts';
import { ServiceReports } from './service-reports.ts';
import { isTrusted } from './trust.ts';
import type { PlannedVersion, PlanRequest } from './planner.ts';
import { buildOfContents, forgetContents, hasNamespace } from './state.ts';
import type { SummaryInput } from './summary.ts';
import type { Version, VersionPlace } from './version.ts';

/** One Environment during one reconcile: what it is, the names that follow from it, and the status being made. */
export class EnvironmentScope {
  readonly environment: Environment;
  readonly key: string;
  readonly uid: string;
  readonly id: ResourceId;
  readonly repository: ResourceId;
  /** The environment's own namespace, not the one that the object lies in. */
  readonly namespace: string;
  readonly labels: Record<string, string>;
  /** As it was found; `environment.status` becomes what is written on the way. */
  readonly before: EnvironmentStatus;
  readonly status: EnvironmentStatus;
  readonly #clock: () => Date;
  /** Whether the environment's namespace is there. */
  isPresent: boolean;
  /** Set once the namespace is known to be there and fenced. */
  namespaceUid: string | undefined;
  configuration: RepositoryConfiguration | undefined;
  /** As the Repository has it, the same for the whole reconcile. */
  trustForks = false;
  /** The commit that was read, also where it could not be planned. */
  foundCommit: string | undefined;
  #located: Promise<RefPlace> | undefined;
  /** Where the environment answers, if a service of it is public. */
  webURL: string | undefined;
  /** What was planned during this very reconcile. */
  justPlanned: PlannedVersion | undefined;
  #nextLookMs: number | undefined;
  readonly conditions = new ConditionReports();
  readonly services: ServiceReports;

  constructor(environment: Environment, clock: () => Date) {
    this.environment = environment;
    this.#clock = clock;
    this.key = keyOf(environment);
    this.uid = environment.metadata.uid ?? '';
    const group = groupOfNamespace(environment.metadata.namespace ?? '') ?? '';
    this.id = { group, name: environment.metadata.name };
    this.repository = { group, name: environment.spec.repository };
    this.namespace = environmentNamespace(this.id);
    this.labels = ownedLabels({ group, name: environment.metadata.name, uid: this.uid });
    this.before = structuredClone(environment.status ?? {});
    this.status = structuredClone(this.before);
    this.services = new ServiceReports(this.status, this.conditions);
    this.isPresent = hasNamespace(this.status);
  }

  get now(): Date {
    return this.#clock();
  }

  get isActive(): boolean {
    return this.status.activation?.active ?? false;
  }

  /** The contents go for a rebuild. */
  get comesAgain(): boolean {
    return !this.isActive && this.status.activation?.rebuild === true;
  }

  get runningBuild(): BuildStatus | undefined {
    return this.status.build?.result === 'running' ? this.status.build : undefined;
  }

  /** Whether those wrote it who may push to the repository, as far as is known by now. */
  get isTrusted(): boolean {
    return isTrusted(this.environment.spec.gitRef, this, this.status);
  }

  /** Whether its services were set up once the contents came. */
  get isSetUp(): boolean {
    return this.status.version !== undefined || this.status.deployed !== undefined;
  }

  get isBuildPending(): boolean {
    return this.status.activation?.buildPending ?? false;
  }

  /** The namespace was found, or made, and is fenced. */
  entered(namespaceUid: string | undefined): void {
    const former = this.status.namespaceUID;
    if (former !== undefined && former !== namespaceUid) this.#lostContents();
    this.status.namespaceUID = namespaceUid;
    this.namespaceUid = namespaceUid;
    this.isPresent = true;
  }

  /** Where the ref's commits are; asked of the Git host once, and only for a pull request. */
  locate(): Promise<RefPlace> {
    this.#located ??= this.#locate();
    return this.#located;
  }

  async #locate(): Promise<RefPlace> {
    const { gitRef } = this.environment.spec;
    const { place, isFork } = await locateRef(this.#lookedUp, gitRef);
    if (gitRef.type === 'pull request') this.status.fromFork = isFork;
    return place;
  }

  get #lookedUp(): RepositoryConfiguration {
    if (!this.configuration) throw new Error('the repository has not been looked up');
    return this.configuration;
  }

  /** Takes these fields into the status; true when that changes it. */
  take(fields: Partial<EnvironmentStatus>): boolean {
    const before = JSON.stringify(this.status);
    Object.assign(this.status, fields);
    return JSON.stringify(this.status) !== before;
  }

  /** Somebody deleted the namespace: what ran there is built again. */
  #lostContents(): void {
    const { activation, deployed } = this.status;
    this.forgetContents();
    if (activation && deployed) this.status.activation = { ...activation, buildPending: true };
  }

  place(): VersionPlace {
    return { namespace: this.namespace, namespaceUid: this.namespaceUid ?? '', labels: this.labels };
  }

  planRequest(): PlanRequest {
    return {
      group: this.id.group,
      configuration: this.#lookedUp,
      locate: () => this.locate(),
      isTrusted: () => this.isTrusted,
      onCommit: (commit) => (this.foundCommit = commit),
      ref: this.environment.spec.gitRef,
      place: this.place(),
      isFirst: this.#isNew && this.status.version === undefined && !this.status.deployed,
    };
  }

  /** No reconcile before this one has told that it was in this namespace: one that was killed may have planned there. */
  get #isNew(): boolean {
    return this.before.namespaceUID !== this.namespaceUid;
  }

  /** A refusal told by an earlier reconcile, which stands until somebody asks again. */
  earlierRefusal(type: EnvironmentCondition): ConditionReport | undefined {
    return this.conditions.earlierRefusal(this.environment.status?.conditions, type);
  }

  planned({ id, commit, warnings, serviceFile }: Version): void {
    const isPublic = serviceFile.publicRoutes.some(({ alias }) => alias === undefined);
    this.status.webURL = isPublic ? this.webURL : undefined;
    this.status.commit = commit;
    this.status.version = id;
    this.justPlanned = { version: id, commit };
    const message = ['the services are set up', ...warnings].join('; ');
    this.conditions.report('Created', 'True', warnings.length > 0 ? 'SetUpWithWarnings' : 'SetUp', message);
  }

  /** Nothing of what was there is there any more; the record of the last build stays. */
  forgetContents(): void {
    forgetContents(this.status);
    this.conditions.drop('Created', 'Built', 'Available', 'Seeded', 'Published');
  }

  /** What waited for a turn to be taken, or for former contents to go, is decided next. */
  lookAgainForWaiting(): void {
    const { metadata, spec } = this.environment;
    if (awaitsTurn({ spec, annotations: metadata.annotations, status: this.status })) this.lookAgainIn(1);
  }

  lookAgainIn(ms: number): void {
    this.#nextLookMs = Math.min(ms, this.#nextLookMs ?? ms);
  }

  /** When to look again though nothing changes. */
  nextLookMs(longestMs: number): number | undefined {
    return this.#nextLookMs === undefined ? undefined : Math.min(this.#nextLookMs, longestMs);
  }

  summaryInput(error: unknown): SummaryInput {
    const { progress, givesUpAt } = this.services;
    return {
      state: this.status.state,
      present: this.isPresent,
      wanted: this.isActive,
      buildPending: this.isBuildPending,
      build: buildOfContents(this.status),
      available: progress?.done,
      waitingFor: progress?.waitingFor ?? [],
      givesUpAt,
      wasReady: findCondition(this.before.conditions, 'Ready')?.status === 'True',
      error,
    };
  }

  /** The status as it is to be written. */
  finalStatus(): EnvironmentStatus {
    const generation = this.environment.metadata.generation ?? 0;
    const conditions = this.conditions.merge(this.environment.status?.conditions, generation, this.now);
    return { ...this.status, observedGeneration: generation, conditions };
  }
}
