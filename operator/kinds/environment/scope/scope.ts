import type { ConditionReport } from '../../../../crds/conditions.ts';
import type { BuildStatus, Environment, EnvironmentStatus } from '../../../../crds/environment.ts';
import { fullRefName } from '../../../../crds/git-ref.ts';
import { groupOfNamespace, type ResourceId } from '../../../../crds/ids.ts';
import { environmentNamespace, environmentUrl } from '../../../../crds/names.ts';
import { keyOf } from '../../../../kubernetes/resource-type.ts';
import type { RepositoryConfiguration, RepositoryConfigurations } from '../../repository/configuration.ts';
import type { RefLocation } from '../../../source/git/source.ts';
import { ConditionReports, type EnvironmentCondition } from './condition-reports.ts';
import { ownedLabels } from './owned-labels.ts';
import type { PlanRequest } from '../revision/revision-planner.ts';
import { secretsOf } from '../revision/secrets.ts';
import { ServiceReports } from './service-reports.ts';
import { forgetContents, hasNamespace } from './state.ts';
import { isTrusted } from '../revision/trust.ts';
import type { Revision, RevisionLocation } from '../revision/revision.ts';

export interface ScopeOptions {
  configurations: Pick<RepositoryConfigurations, 'read' | 'registryAccess'>;
  /** Environments are served at `<label>.<host>` of this URL. */
  environmentsUrl: URL;
  now: () => Date;
}

/**
 * One Environment during one reconcile: its identity, the names derived from it, and the draft of its status, which
 * EnvironmentStatuses writes.
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
  /** Where the environment is served if it has a public service. */
  readonly webURL: string;
  /** The status at the start of the reconcile; `environment.status` is the last one written. */
  readonly before: EnvironmentStatus;
  /** The draft of the status. */
  readonly status: EnvironmentStatus;
  readonly conditions = new ConditionReports();
  readonly services: ServiceReports;
  readonly #options: ScopeOptions;
  #isPresent: boolean;
  #configuration: Promise<RepositoryConfiguration> | undefined;
  #knownConfiguration: RepositoryConfiguration | undefined;
  #located: Promise<RefLocation> | undefined;

  constructor(environment: Environment, options: ScopeOptions) {
    this.#options = options;
    this.environment = environment;
    this.key = keyOf(environment);
    this.uid = environment.metadata.uid ?? '';
    const group = groupOfNamespace(environment.metadata.namespace ?? '') ?? '';
    this.id = { group, name: environment.metadata.name };
    this.repository = { group, name: environment.spec.repository };
    this.namespace = environmentNamespace(this.id);
    this.labels = ownedLabels({ group, name: environment.metadata.name, uid: this.uid });
    this.trustForks = options.configurations.registryAccess(this.repository).trustForks;
    this.webURL = environmentUrl(options.environmentsUrl, this.id);
    this.before = structuredClone(environment.status ?? {});
    this.status = structuredClone(this.before);
    this.services = new ServiceReports(this.status, this.conditions);
    this.#isPresent = hasNamespace(this.status);
  }

  get now(): Date {
    return this.#options.now();
  }

  /** Whether the environment's namespace exists. */
  get isPresent(): boolean {
    return this.#isPresent;
  }

  get isActive(): boolean {
    return this.status.activation?.active ?? false;
  }

  get runningBuild(): BuildStatus | undefined {
    return this.status.build?.result === 'running' ? this.status.build : undefined;
  }

  /** Whether only people with push access wrote the code, as far as known. */
  get isTrusted(): boolean {
    return isTrusted(this.environment.spec.gitRef, this, this.status);
  }

  /** Whether its services were set up after the contents were created. */
  get isSetUp(): boolean {
    return this.status.revision !== undefined || this.status.deployed !== undefined;
  }

  get isBuildPending(): boolean {
    return this.status.activation?.buildPending ?? false;
  }

  /**
   * Returns the repository's configuration, read at most once per reconcile and only when needed: its Secrets are not
   * cached. Throws as RepositoryConfigurations.read does.
   */
  readConfiguration(): Promise<RepositoryConfiguration> {
    this.#configuration ??= this.#readConfiguration();
    return this.#configuration;
  }

  async #readConfiguration(): Promise<RepositoryConfiguration> {
    this.#knownConfiguration = await this.#options.configurations.read(this.repository);
    return this.#knownConfiguration;
  }

  /** Returns the secrets to mask, as far as the configuration has been read. */
  secrets(revision: Revision | undefined): string[] {
    return secretsOf(this.#knownConfiguration, revision);
  }

  /** Returns the location of the ref's commits; the Git host is asked at most once, and only for a pull request. */
  locate(): Promise<RefLocation> {
    this.#located ??= this.#locate();
    return this.#located;
  }

  async #locate(): Promise<RefLocation> {
    const { host } = await this.readConfiguration();
    const { name, type } = this.environment.spec.gitRef;
    if (type !== 'pull request') return { access: host.access, refName: fullRefName({ name, type }) };
    const { location, isFork } = await host.pullRequest(Number(name));
    this.status.fromFork = isFork;
    return location;
  }

  /** Sets fields of the status; returns whether that changes it. */
  take(fields: Partial<EnvironmentStatus>): boolean {
    const before = JSON.stringify(this.status);
    Object.assign(this.status, fields);
    return JSON.stringify(this.status) !== before;
  }

  /** Records that the namespace exists and is isolated. Contents of another namespace are lost and are built again. */
  entered(namespaceUid: string | undefined): void {
    const { activation, deployed, namespaceUID: former } = this.status;
    if (former !== undefined && former !== namespaceUid) {
      this.forgetContents();
      if (activation && deployed) this.status.activation = { ...activation, buildPending: true };
    }
    this.status.namespaceUID = namespaceUid;
    this.#isPresent = true;
  }

  /** Records existing contents that the status did not mention. */
  adopted(status: EnvironmentStatus): void {
    this.take(status);
    this.#isPresent = true;
  }

  /** Records the progress of the deletion of the contents. */
  removed(isGone: boolean): void {
    this.#isPresent = !isGone;
    if (isGone) this.forgetContents();
  }

  /** Clears what the status records of the contents; the last build is kept. */
  forgetContents(): void {
    forgetContents(this.status);
    this.conditions.drop('Created', 'Built', 'Available', 'Seeded', 'Published');
  }

  location(): RevisionLocation {
    return { namespace: this.namespace, namespaceUid: this.status.namespaceUID ?? '', labels: this.labels };
  }

  async planRequest(): Promise<PlanRequest> {
    return {
      group: this.id.group,
      configuration: await this.readConfiguration(),
      locate: () => this.locate(),
      isTrusted: () => this.isTrusted,
      ref: this.environment.spec.gitRef,
      location: this.location(),
      isFirst: this.#isNew && this.status.revision === undefined && !this.status.deployed,
    };
  }

  /** Whether no earlier reconcile has recorded this namespace; one that was killed may have planned in it. */
  get #isNew(): boolean {
    return this.before.namespaceUID !== this.status.namespaceUID;
  }

  /** Returns a refusal that an earlier reconcile recorded and that stands until a new request. */
  earlierRefusal(type: EnvironmentCondition): ConditionReport | undefined {
    return this.conditions.earlierRefusal(this.environment.status?.conditions, type);
  }

  /** Records the revision that the services were set up from. */
  planned({ id, commit, warnings, serviceFile }: Revision): void {
    const isPublic = serviceFile.publicRoutes.some(({ alias }) => alias === undefined);
    this.status.webURL = isPublic ? this.webURL : undefined;
    this.status.commit = commit;
    this.status.revision = id;
    const message = ['the services are set up', ...warnings].join('; ');
    this.conditions.report('Created', 'True', warnings.length > 0 ? 'SetUpWithWarnings' : 'SetUp', message);
  }
}
