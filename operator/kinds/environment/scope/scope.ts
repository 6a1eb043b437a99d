import { effectiveAccess, isStricter, type AccessMode, type EffectiveAccess } from '../../../../crds/access.ts';
import { findCondition, type ConditionReport } from '../../../../crds/conditions.ts';
import type { Environment, EnvironmentStatus } from '../../../../crds/environment.ts';
import type { BuildStatus } from '../../../../crds/environment-build.ts';
import { idOf, type ResourceId } from '../../../../crds/ids.ts';
import { environmentFacts } from '../../../../crds/environment-facts.ts';
import { environmentNamespace, environmentUrl } from '../../../../crds/environment-address.ts';
import { keyOf } from '../../../../kubernetes/resource-type.ts';
import type { RepositoryConfiguration, RepositoryConfigurations } from '../../repository/configuration.ts';
import type { RefLocation } from '../../../source/git/source.ts';
import { combine, type Contribution, type EnvironmentCondition } from './contribution.ts';
import { ownedLabels } from './owned-labels.ts';
import type { PlanRequest } from '../revision/plan-request.ts';
import { secretsOf } from '../revision/secrets-to-mask.ts';
import { hasNamespace } from './contents.ts';
import { RepositoryReads } from './repository-reads.ts';
import { ApprovalMissing, type ForkApprovals, isApproved, needsApproval } from '../revision/approval.ts';
import { isTrusted } from '../revision/trust.ts';
import { revisionsOf, type Revision, type RevisionLocation } from '../revision/revision.ts';

/** A ref that moves while it is planned is checked again soon, because that check reports what is waited for. */
const approvalSeenMs = 1000;

export interface ScopeOptions {
  configurations: Pick<
    RepositoryConfigurations,
    'read' | 'registryAccess' | 'forkApproval' | 'access' | 'canBeIncluded'
  >;
  /** Environments are served at `<label>.<host>` of this URL. */
  environmentsUrl: URL;
  /** Who can open environments whose Repository does not say. */
  defaultAccess: AccessMode;
  now: () => Date;
}

/**
 * One Environment at one point of a reconcile: its identity, the names derived from it, and its status so far.
 * Immutable: phases return contributions, and the reconcile continues with a scope that contains them.
 */
export class EnvironmentScope {
  readonly environment: Environment;
  readonly key: string;
  readonly uid: string;
  readonly id: ResourceId;
  readonly repository: ResourceId;
  /** The environment's own namespace, not the one of the object. */
  readonly namespace: string;
  readonly labels: Record<string, string>;
  /** The Repository's setting, constant during the reconcile. */
  readonly trustForks: boolean;
  /** The Repository's setting, constant during the reconcile. */
  readonly forkApproval: ForkApprovals;
  /** Who can open the web addresses, constant during the reconcile. */
  readonly access: EffectiveAccess;
  /** Where the environment is served if it has a public service. */
  readonly webURL: string;
  readonly facts: ReturnType<typeof environmentFacts>;
  /** The status at the start of the reconcile; `environment.status` is the last one written. */
  readonly before: Readonly<EnvironmentStatus>;
  /** What the phases so far have contributed. */
  readonly contributed: Required<Contribution>;
  /** The status so far. */
  readonly status: Readonly<EnvironmentStatus>;
  readonly reads: RepositoryReads;
  /** Returns whether the service file can include a repository of the group. */
  readonly canInclude: (name: string) => boolean;
  /** Returns whether the environment would open a repository of the group to people whom its setting keeps out. */
  readonly opensFurther: (name: string) => boolean;
  readonly clock: () => Date;

  constructor(environment: Environment, { configurations, environmentsUrl, defaultAccess, now }: ScopeOptions) {
    this.environment = environment;
    this.key = keyOf(environment);
    this.uid = environment.metadata.uid ?? '';
    this.id = idOf(environment);
    const repository = { group: this.id.group, name: environment.spec.repository };
    this.repository = repository;
    this.namespace = environmentNamespace(this.id);
    this.labels = ownedLabels({ ...this.id, uid: this.uid });
    this.trustForks = configurations.registryAccess(repository).trustForks;
    this.forkApproval = configurations.forkApproval(repository);
    this.access = effectiveAccess(environment.spec, configurations.access(repository), defaultAccess);
    this.webURL = environmentUrl(environmentsUrl, this.id);
    const { repository: name, gitRef: ref } = environment.spec;
    this.facts = environmentFacts(environmentsUrl, { id: this.id, repository: name, ref });
    this.before = environment.status ?? {};
    this.status = this.before;
    this.contributed = { status: {}, conditions: {}, observed: {} };
    const { group } = this.id;
    this.canInclude = (name) => configurations.canBeIncluded({ group, name }, this.mayBeFork);
    this.opensFurther = (name) =>
      isStricter(effectiveAccess({}, configurations.access({ group, name }), defaultAccess), this.access);
    this.reads = new RepositoryReads(
      () => configurations.read(repository, environment),
      { gitRef: environment.spec.gitRef, fromFork: this.before.fromFork },
      (name) => configurations.read({ group, name }),
    );
    this.clock = now;
  }

  /** Returns the scope with a contribution. */
  with(contribution: Contribution): EnvironmentScope {
    const contributed = combine(this.contributed, contribution);
    const status: Readonly<EnvironmentStatus> = Object.freeze({ ...this.before, ...contributed.status });
    const next = Object.create(EnvironmentScope.prototype) as EnvironmentScope;
    return Object.freeze(Object.assign(next, this, { contributed, status }));
  }

  get now(): Date {
    return this.clock();
  }

  /** Whether the environment's namespace exists. */
  get isPresent(): boolean {
    return this.contributed.observed.isPresent ?? hasNamespace(this.before);
  }

  get isActive(): boolean {
    return this.status.activation?.active ?? false;
  }

  /** Whether the services are to be stopped. */
  get isAsleep(): boolean {
    return this.status.sleep?.asleep === true;
  }

  get runningBuild(): BuildStatus | undefined {
    return this.status.build?.result === 'running' ? this.status.build : undefined;
  }

  /** Whether the pull request comes from a fork; undefined if that is unknown. */
  get fromFork(): boolean | undefined {
    return this.reads.fromFork ?? this.status.fromFork;
  }

  /** Whether only people with push access wrote the code, as far as known. */
  get isTrusted(): boolean {
    return isTrusted(this.environment.spec.gitRef, this, this);
  }

  /** Whether its code may be a fork's, trusted or not, as far as known. */
  get mayBeFork(): boolean {
    return this.environment.spec.gitRef.type === 'pull request' && this.fromFork !== false;
  }

  /** Whether its services were set up after the contents were created. */
  get isSetUp(): boolean {
    return this.status.revision !== undefined || this.status.deployed !== undefined;
  }

  get isBuildPending(): boolean {
    return this.status.activation?.buildPending ?? false;
  }

  /** Returns the repository's configuration, read at most once per reconcile and only when needed. */
  readConfiguration(): Promise<RepositoryConfiguration> {
    return this.reads.configuration();
  }

  /**
   * Returns the secrets to mask: those that the revision names, and those of the repository's configuration, if this
   * reconcile has read it already. It is not read for this purpose alone.
   */
  secrets(revision: Revision | undefined): string[] {
    return secretsOf(this.reads.knownConfiguration, revision, this.reads.knownOthers);
  }

  /** Returns the location of the ref's commits; the Git host is asked at most once, and only for a pull request. */
  locate(): Promise<RefLocation> {
    return this.reads.location();
  }

  location(): RevisionLocation {
    return { namespace: this.namespace, namespaceUid: this.status.namespaceUID ?? '', labels: this.labels };
  }

  async planRequest(): Promise<PlanRequest> {
    return {
      group: this.id.group,
      environment: this.key,
      kept: revisionsOf(this.status),
      configuration: await this.readConfiguration(),
      locate: () => this.locate(),
      isTrusted: () => this.isTrusted,
      requireApproval: (commit) => requireApproval(this, commit),
      included: {
        canInclude: (name) => this.canInclude(name),
        opensFurther: (name) => this.opensFurther(name),
        configuration: (name) => this.reads.other(name),
        sourceBranch: () => this.reads.sourceBranch,
        mayBeFork: () => this.mayBeFork,
      },
      ref: this.environment.spec.gitRef,
      facts: this.facts,
      build: this.runningBuild?.number ?? (this.status.build?.number ?? 0) + 1,
      location: this.location(),
      // A reconcile that was killed may have planned in a namespace that the status does not record.
      isFirst:
        this.before.namespaceUID !== this.status.namespaceUID &&
        this.status.revision === undefined &&
        !this.status.deployed,
    };
  }

  /** Returns a refusal that an earlier reconcile recorded and that stands until a new request. */
  earlierRefusal(type: EnvironmentCondition): ConditionReport | undefined {
    const { conditions } = this.contributed;
    const isDropped = type in conditions && conditions[type] === undefined;
    const condition = findCondition(this.environment.status?.conditions, type);
    return condition?.status === 'False' && !isDropped ? condition : undefined;
  }
}

/** Throws ApprovalMissing if a commit needs an approval and has none; called once the ref is located. */
function requireApproval(scope: EnvironmentScope, commit: string): void {
  if (!needsApproval(scope.environment.spec.gitRef, scope, scope)) return;
  if (!isApproved(scope.status.approval, commit)) throw new ApprovalMissing(commit, scope, approvalSeenMs);
}
