import { findCondition, mergeConditions, type ConditionReport, type ConditionStatus } from '../../crds/conditions.ts';
import type { Environment, EnvironmentStatus } from '../../crds/environment.ts';
import { groupOfNamespace, type ResourceId } from '../../crds/ids.ts';
import { environmentHost, environmentNamespace } from '../../crds/names.ts';
import { pendingRequests } from '../../crds/requests.ts';
import { keyOf } from '../../kubernetes/resource-type.ts';
import type { SourceAccess } from '../source/source.ts';
import { ownedLabels } from './owned-labels.ts';
import type { PlanRequest } from './planner.ts';
import type { EnvironmentSettings } from './settings.ts';
import type { SummaryInput } from './summary.ts';
import type { Version } from './version.ts';
import type { VersionPlace } from './version-store.ts';
import type { RolloutProgress } from './workload-set.ts';
import type { WorkloadInput } from './workloads.ts';

/** The conditions of an Environment: what `kubectl describe` and the API tell of it. */
export type EnvironmentCondition = 'Ready' | 'Reconciling' | 'Stalled' | 'Created' | 'Built' | 'Available';

/** One Environment during one reconcile: what it is, the names that follow from it, and the status being made. */
export class EnvironmentScope {
  readonly environment: Environment;
  readonly key: string;
  readonly uid: string;
  readonly id: ResourceId;
  readonly repository: ResourceId;
  /** The environment's own namespace, not the one that the object lies in. */
  readonly namespace: string;
  readonly host: string;
  readonly labels: Record<string, string>;
  readonly status: EnvironmentStatus;
  readonly #clock: () => Date;
  /** Whether the environment's namespace is there. */
  isPresent: boolean;
  /** Set once the namespace is known to be there and fenced. */
  namespaceUid: string | undefined;
  access: SourceAccess | undefined;
  /** Until when the services are waited for. */
  givesUpAt: Date | undefined;
  /** The commit that was planned during this very reconcile. */
  commitJustPlanned: string | undefined;
  #progress: RolloutProgress | undefined;
  #nextLookMs: number | undefined;
  readonly #reports = new Map<string, ConditionReport>();
  readonly #dropped = new Set<string>();

  constructor(environment: Environment, settings: Pick<EnvironmentSettings, 'environmentsUrl'>, clock: () => Date) {
    this.environment = environment;
    this.#clock = clock;
    this.key = keyOf(environment);
    this.uid = environment.metadata.uid ?? '';
    const group = groupOfNamespace(environment.metadata.namespace ?? '') ?? '';
    this.id = { group, name: environment.metadata.name };
    this.repository = { group, name: environment.spec.repository };
    this.namespace = environmentNamespace(this.id);
    this.host = environmentHost(this.id, settings.environmentsUrl.hostname);
    this.labels = ownedLabels({ group, name: environment.metadata.name, uid: this.uid });
    this.status = structuredClone(environment.status ?? {});
    this.isPresent = (this.status.state ?? 'empty') !== 'empty';
  }

  report(type: EnvironmentCondition, status: ConditionStatus, reason: string, message: string): void {
    this.add({ type, status, reason, message });
  }

  add(report: ConditionReport): void {
    this.#dropped.delete(report.type);
    this.#reports.set(report.type, { ...report, message: report.message.slice(0, 8000) });
  }

  /** Takes a condition away: it says nothing about what is there now. */
  drop(...types: EnvironmentCondition[]): void {
    for (const type of types) {
      this.#reports.delete(type);
      this.#dropped.add(type);
    }
  }

  get now(): Date {
    return this.#clock();
  }

  get isActive(): boolean {
    return this.status.activation?.active ?? false;
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
    if (!this.access) throw new Error('the repository has not been looked up');
    return { access: this.access, ref: this.environment.spec.gitRef, place: this.place() };
  }

  /** A refusal told by an earlier reconcile, which stands until somebody asks again. */
  earlierRefusal(type: EnvironmentCondition): ConditionReport | undefined {
    const condition = findCondition(this.environment.status?.conditions, type);
    return condition?.status === 'False' && !this.#dropped.has(type) ? condition : undefined;
  }

  planned({ commit, warnings }: Version): void {
    this.status.commit = commit;
    this.commitJustPlanned = commit;
    const message = ['the services are set up', ...warnings].join('; ');
    this.report('Created', 'True', warnings.length > 0 ? 'SetUpWithWarnings' : 'SetUp', message);
  }

  rolledOut(progress: RolloutProgress): void {
    this.#progress = progress;
    this.status.services = progress.services;
    if (progress.done) this.report('Available', 'True', 'Running', 'every service runs');
    else this.report('Available', 'False', 'Waiting', `waiting for ${progress.waitingFor.join('; ')}`);
  }

  /** The services are set up and none of them runs. */
  notRunning({ serviceFile, images }: WorkloadInput): void {
    this.status.services = serviceFile.services.map(({ name, image }) => ({
      name,
      image: images.get(name) ?? image,
      ready: false,
    }));
    this.drop('Available');
  }

  /** Nothing of what was there is there any more; the record of the last build stays. */
  forgetContents(): void {
    delete this.status.commit;
    delete this.status.deployed;
    delete this.status.services;
    delete this.status.namespaceUID;
    this.drop('Created', 'Built', 'Available');
  }

  /** Requests that waited for a turn to be taken, or for former contents to go, are decided next. */
  lookAgainForRequests(): void {
    const { annotations } = this.environment.metadata;
    if (pendingRequests(annotations, this.status.handledRequests).length > 0) this.lookAgainIn(1);
  }

  lookAgainIn(ms: number): void {
    this.#nextLookMs = Math.min(ms, this.#nextLookMs ?? ms);
  }

  /** When to look again though nothing changes: at the expiry, or sooner where a step asked for it. */
  nextLookMs(longestMs: number): number | undefined {
    const { expiresAt } = this.status;
    if (expiresAt !== undefined) this.lookAgainIn(Math.max(1, Date.parse(expiresAt) - this.now.getTime()));
    return this.#nextLookMs === undefined ? undefined : Math.min(this.#nextLookMs, longestMs);
  }

  summaryInput(error: unknown): SummaryInput {
    return {
      state: this.status.state,
      wanted: this.isActive,
      buildPending: this.isBuildPending,
      build: this.#buildOfTheseContents(),
      available: this.#progress?.done,
      waitingFor: this.#progress?.waitingFor ?? [],
      givesUpAt: this.givesUpAt,
      error,
    };
  }

  /** A build of former contents says nothing of what is there now. */
  #buildOfTheseContents(): EnvironmentStatus['build'] {
    const { build, activation } = this.status;
    return build && Date.parse(build.startedAt) >= Date.parse(activation?.since ?? '') ? build : undefined;
  }

  /** The status as it is to be written. */
  finalStatus(): EnvironmentStatus {
    const generation = this.environment.metadata.generation ?? 0;
    const kept = (this.environment.status?.conditions ?? []).filter(({ type }) => !this.#dropped.has(type));
    const conditions = mergeConditions(kept, [...this.#reports.values()], generation, this.now);
    return { ...this.status, observedGeneration: generation, conditions };
  }
}
