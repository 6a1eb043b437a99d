import { Counts } from '../../fair-queue/counts.ts';
import type { Environment } from '../../crds/environment.ts';
import { creatorOf, type Group } from '../../crds/group.ts';
import { groupOfNamespace } from '../../crds/ids.ts';
import type { Repository } from '../../crds/repository.ts';
import type { VariableSpec } from '../../crds/variable.ts';
import type { Directory } from '../auth/visibility.ts';
import { storedBytes } from '../cluster/owned-secret.ts';
import { Conflict } from '../shared/errors.ts';
import { variablesOf, type VariableOwner } from '../shared/variable-owner.ts';
import type { LimitMetrics } from './limit-metrics.ts';

/** Maximum of what one account can have in all groups that it created, including groups that it has left. */
export interface AccountLimits {
  groups: number;
  repositories: number;
  environments: number;
  /** Bytes of variables, of service files in settings, and of overrides of environments. */
  textBytes: number;
}

export interface AccountCapsOptions {
  directory: Pick<Directory, 'madeBy' | 'repositories' | 'environmentsIn' | 'groupNamed'>;
  limits: AccountLimits;
  metrics: LimitMetrics;
}

type Counted = 'groups' | 'repositories' | 'environments';

const kibibyte = 1024;
/** What an overriding variable takes in its Environment, of which there can be ten thousand. */
const overrideBytes = 256;

/**
 * Limits what accounts store. The contents of a group count for the account that created the group through the REST
 * API, so that more groups give an account no more room. Other groups are not counted.
 */
export class AccountCaps {
  readonly #options: AccountCapsOptions;
  /**
   * Objects being created, by account and kind. One that is already in the cache counts twice for a moment, which is
   * better than not at all.
   */
  readonly #underWay = new Counts();

  constructor(options: AccountCapsOptions) {
    this.#options = options;
  }

  /** Creates a group of the account. @throws Conflict when the account has reached its limit of groups */
  group<R>(accountId: string, create: () => Promise<R>): Promise<R> {
    const { directory } = this.#options;
    return this.#create('groups', accountId, directory.madeBy({ accountId }).length, create);
  }

  /**
   * Creates a repository in the group.
   * @throws Conflict when the group's creator has reached their limit of repositories
   */
  repository<R>(group: Group, create: () => Promise<R>): Promise<R> {
    return this.#createIn(group, 'repositories', (one) => this.#options.directory.repositories(one).length, create);
  }

  /**
   * Creates an environment in the group.
   * @throws Conflict when the group's creator has reached their limit of environments
   */
  environment<R>(group: Group, create: () => Promise<R>): Promise<R> {
    return this.#createIn(group, 'environments', (one) => this.#options.directory.environmentsIn(one).length, create);
  }

  /**
   * Requires that the account that created the owner's group may store the variable's new value.
   * @throws Conflict when all texts of its groups would then exceed the account's limit of bytes
   */
  requireVariable(owner: VariableOwner, name: string, value: string): void {
    const former = variablesOf(owner).filter((one) => one.name === name);
    const added = 'gitRef' in owner.spec && former.length === 0 ? overrideBytes : 0;
    this.#requireText(owner, Buffer.byteLength(value) + added - variableBytes(former));
  }

  /**
   * Requires that the account that created the group of the repository or environment may store its new service file.
   * @throws Conflict when all texts of its groups would then exceed the account's limit of bytes
   */
  requireServiceFile(owner: Repository | Environment, content: string): void {
    this.#requireText(owner, Buffer.byteLength(content) - serviceFileBytes(owner));
  }

  #requireText({ metadata }: Pick<VariableOwner, 'metadata'>, addedBytes: number): void {
    const { directory, limits, metrics } = this.#options;
    const group = directory.groupNamed(groupOfNamespace(metadata.namespace ?? '') ?? metadata.name);
    const accountId = group && creatorOf(group);
    // A smaller text is always accepted: otherwise nobody could free space.
    if (accountId === undefined || addedBytes <= 0) return;
    const there = directory.madeBy({ accountId }).reduce((sum, one) => sum + this.#textBytes(one), 0);
    if (there + addedBytes <= limits.textBytes) return;
    metrics.refused('texts');
    throw new Conflict(
      `variables, service files and overrides in all groups of the account that created this one have ${inKibibytes(there)} KiB, and ` +
        `${inKibibytes(limits.textBytes)} KiB is the limit. Shorten or delete some, or ask an administrator to raise the limit`,
    );
  }

  #textBytes(group: Group): number {
    const { directory } = this.#options;
    const repositories = directory.repositories(group);
    const ofRepositories = repositories.map((one) => variableBytes(one.spec.variables) + serviceFileBytes(one));
    const overriding = directory.environmentsIn(group).filter(({ spec }) => spec.overrides !== undefined);
    const ofOverrides = overriding.map(
      (one) => variableBytes(variablesOf(one)) + variablesOf(one).length * overrideBytes + serviceFileBytes(one),
    );
    return [...ofRepositories, ...ofOverrides].reduce((sum, bytes) => sum + bytes, variableBytes(group.spec.variables));
  }

  /** Creates an object that counts for the group's creator. `countOf`: returns how many of its kind a group has. */
  #createIn<R>(group: Group, what: Counted, countOf: (group: Group) => number, create: () => Promise<R>): Promise<R> {
    const accountId = creatorOf(group);
    if (accountId === undefined) return create();
    const there = this.#options.directory.madeBy({ accountId }).reduce((sum, one) => sum + countOf(one), 0);
    return this.#create(what, accountId, there, create);
  }

  async #create<R>(what: Counted, accountId: string, there: number, create: () => Promise<R>): Promise<R> {
    const { limits, metrics } = this.#options;
    const key = `${what} ${accountId}`;
    const underWay = this.#underWay.of(key);
    if (there + underWay >= limits[what]) {
      metrics.refused(what);
      const whose = what === 'groups' ? 'your account has' : 'the groups of the account that created this one have';
      throw new Conflict(
        `${whose} ${there + underWay} ${what} in all, and ${limits[what]} is the limit. Delete some, or ask an ` +
          'administrator to raise the limit',
      );
    }
    this.#underWay.add(key);
    try {
      return await create();
    } finally {
      this.#underWay.add(key, -1);
    }
  }
}

function variableBytes(variables: readonly VariableSpec[] = []): number {
  return variables.reduce(
    (sum, { value = '', valueFrom }) =>
      sum + (valueFrom ? storedBytes(valueFrom.secretKeyRef) : Buffer.byteLength(value)),
    0,
  );
}

function serviceFileBytes({ spec }: Repository | Environment): number {
  const { content = '', contentFrom } = ('gitRef' in spec ? spec.overrides?.serviceFile : spec.serviceFile) ?? {};
  return contentFrom ? storedBytes(contentFrom.secretKeyRef) : Buffer.byteLength(content);
}

function inKibibytes(bytes: number): number {
  return Math.round(bytes / kibibyte);
}
