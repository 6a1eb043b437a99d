import { ENVIRONMENT, type Environment } from '../../../crds/environment.ts';
import { GROUP, type Group } from '../../../crds/group.ts';
import { formatId, groupNamespace, type ResourceId } from '../../../crds/ids.ts';
import { type NamedSecret, secretNamer, secretRefusal } from '../../../crds/named-secret.ts';
import { type ForkApproval, REPOSITORY, type Repository } from '../../../crds/repository.ts';
import type { SleepSettings } from '../../../crds/sleep.ts';
import type { VariableSpec } from '../../../crds/variable.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import { objectKey, Secret } from '../../../kubernetes/resource-type.ts';
import { secretText } from '../../../kubernetes/secret-texts.ts';
import { isReservedName } from '../../../service-file/own-variables.ts';
import type { ServiceFileSettings } from '../../../service-file/parse.ts';
import type { Variable, Variables } from '../../../service-file/variables.ts';
import { Stalled, Waiting } from '../../shared/errors.ts';
import type { GitHost } from '../../source/hosts/host.ts';
import { type GitHosts, SECRET_RECHECK_MS } from '../../source/hosts/git-hosts.ts';
import { confirmHostRepository } from './host-repository.ts';

/** The configuration of a Repository and its Group for reading and building its refs. */
export interface RepositoryConfiguration {
  repositoryUid: string;
  host: GitHost;
  /**
   * Throws SourceRefusedError if another repository has taken over the address, and what GitHost.repositoryId throws.
   * Called after code was read, and before it is used or trusted.
   */
  confirmRepository: () => Promise<void>;
  variables: Variables;
  serviceFile: ServiceFileSettings;
  trustForks: boolean;
  /** Secrets of the group's namespace for pulling images. */
  registrySecrets: readonly NamedSecret[];
}

/** Fallback for a missed event of the watched Repositories, in milliseconds. */
const repositoryRecheckMs = 10 * 60_000;

/** Reads the configuration of Repositories, including the Secrets that they name. */
export class RepositoryConfigurations {
  readonly #client: Pick<ClusterClient, 'find'>;
  readonly #repositories: Pick<Informer<Repository>, 'get'>;
  readonly #groups: Pick<Informer<Group>, 'get'>;
  readonly #hosts: Pick<GitHosts, 'of'>;
  /** Default of Repositories that set none. */
  readonly #forkApproval: ForkApproval;

  constructor(
    client: Pick<ClusterClient, 'find'>,
    repositories: Pick<Informer<Repository>, 'get'>,
    groups: Pick<Informer<Group>, 'get'>,
    hosts: Pick<GitHosts, 'of'>,
    { forkApproval }: { forkApproval: ForkApproval },
  ) {
    this.#hosts = hosts;
    this.#forkApproval = forkApproval;
    this.#client = client;
    this.#repositories = repositories;
    this.#groups = groups;
  }

  /**
   * Reads a Repository's configuration, with what the Environment overrides. Throws Waiting while the Repository, or a
   * Secret that one of them or the Group names, is missing.
   */
  async read(id: ResourceId, environment?: Environment): Promise<RepositoryConfiguration> {
    const namespace = groupNamespace(id.group);
    const repository = this.#repositories.get(objectKey(namespace, id.name));
    if (!repository) {
      const message =
        `waiting for the Repository ${formatId(id)}, which does not exist. Create it, or delete the Environment and ` +
        'correct the name';
      throw new Waiting('RepositoryNotFound', message, repositoryRecheckMs);
    }
    const group = this.#groups.get(id.group);
    const { metadata } = repository;
    if (metadata.uid === undefined) {
      throw new Error(`the Repository ${formatId(id)} has no UID, which the API server sets. Report this as a defect`);
    }
    const host = await this.#hosts.of(repository);
    return {
      repositoryUid: metadata.uid,
      host,
      confirmRepository: () => confirmHostRepository(repository.status, host),
      variables: await this.#variables(namespace, [
        ...namedVariables(GROUP, group),
        ...namedVariables(REPOSITORY, repository),
        ...(environment ? overridingVariables(environment) : []),
      ]),
      serviceFile: {
        ...(await this.#serviceFile(repository)),
        ...(environment && (await this.#overrides(environment))),
      },
      ...this.registryAccess(id),
    };
  }

  /**
   * Returns whether an environment of another repository of the group can include this one: it exists and, if the
   * environment runs code of a fork, permits that.
   */
  canBeIncluded({ group, name }: ResourceId, byFork: boolean): boolean {
    const repository = this.#repositories.get(objectKey(groupNamespace(group), name));
    return repository !== undefined && (!byFork || repository.spec.forks?.canInclude === true);
  }

  /** Returns the part of the configuration that needs no Secret; defaults for a missing Repository. */
  registryAccess({ group, name }: ResourceId): Pick<RepositoryConfiguration, 'trustForks' | 'registrySecrets'> {
    const repository = this.#repositories.get(objectKey(groupNamespace(group), name));
    return {
      trustForks: repository?.spec.trustForks ?? false,
      registrySecrets: [
        ...namedRegistrySecrets(REPOSITORY, repository),
        ...namedRegistrySecrets(GROUP, this.#groups.get(group)),
      ],
    };
  }

  /** Returns whether commits of forks need an approval; the installation's default for a missing Repository. */
  forkApproval({ group, name }: ResourceId): { isRequired: boolean; byComment: boolean } {
    const { spec } = this.#repositories.get(objectKey(groupNamespace(group), name)) ?? {};
    return {
      isRequired: (spec?.forks?.approval ?? this.#forkApproval) === 'required',
      byComment: spec !== undefined && takesApprovalByComment(spec),
    };
  }

  /** Returns the settings of who can open environments; undefined for a missing Repository. */
  access({ group, name }: ResourceId): Pick<Repository['spec'], 'access' | 'accessPassword'> | undefined {
    return this.#repositories.get(objectKey(groupNamespace(group), name))?.spec;
  }

  /**
   * Returns the default time to live of new environments in seconds; 0 if it is unlimited, or the Repository is
   * missing.
   */
  defaultTtlSeconds({ group, name }: ResourceId): number {
    return this.#repositories.get(objectKey(groupNamespace(group), name))?.spec.environmentTTLSeconds ?? 0;
  }

  /** Returns the schedule of rebuilds; undefined for a missing Repository. */
  scheduledRebuild({ group, name }: ResourceId): Repository['spec']['scheduledRebuild'] {
    return this.#repositories.get(objectKey(groupNamespace(group), name))?.spec.scheduledRebuild;
  }

  /** Returns when environments sleep, unless they have settings of their own. */
  sleepSettings({ group, name }: ResourceId): SleepSettings {
    return this.#repositories.get(objectKey(groupNamespace(group), name))?.spec.sleep ?? {};
  }

  /**
   * Reads the service file of the settings if it is used: from its Secret, or from the API server, because caches omit
   * it.
   */
  async #serviceFile(repository: Repository): Promise<ServiceFileSettings> {
    const { namespace = '', name } = repository.metadata;
    const { mode = 'repo', contentFrom } = repository.spec.serviceFile ?? {};
    if (mode === 'repo') return { mode };
    if (!contentFrom) {
      const whole = await this.#client.find<Repository>(REPOSITORY, { namespace, name });
      return { mode, content: whole?.spec.serviceFile?.content };
    }
    const reference = { ...contentFrom.secretKeyRef, namer: secretNamer(REPOSITORY, repository) };
    const secret = await this.#client.find(Secret, { namespace, name: reference.name });
    return { mode, content: textOf(secret, reference, serviceFileOfSettings, namespace) };
  }

  /** Reads the service file of the environment alone, if there is one. */
  async #overrides(environment: Environment): Promise<Pick<ServiceFileSettings, 'overrides'>> {
    const { content, contentFrom } = environment.spec.overrides?.serviceFile ?? {};
    if (!contentFrom) return content === undefined ? {} : { overrides: content };
    const { namespace = '' } = environment.metadata;
    const reference = { ...contentFrom.secretKeyRef, namer: secretNamer(ENVIRONMENT, environment) };
    const secret = await this.#client.find(Secret, { namespace, name: reference.name });
    return { overrides: textOf(secret, reference, serviceFileOfOverrides, namespace) };
  }

  /** Reads the values of variables; of two variables with one name the later one takes precedence. */
  async #variables(namespace: string, specs: readonly NamedVariable[]): Promise<Variables> {
    const variables = new Map<string, Variable>();
    const secrets = new Map<string, Promise<Secret | undefined>>();
    for (const { name, value, valueFrom, visibility, secret: isSecret, namer } of specs) {
      const marked = { visibility, ...(isSecret === true && { secret: true }) };
      const reference = valueFrom?.secretKeyRef;
      if (reference) {
        const secret = secrets.get(reference.name) ?? this.#client.find(Secret, { namespace, name: reference.name });
        secrets.set(reference.name, secret);
        variables.set(name, {
          value: textOf(await secret, { ...reference, namer }, variable(name), namespace),
          ...marked,
        });
      } else {
        variables.set(name, { value: value ?? '', ...marked });
      }
    }
    return variables;
  }
}

/** Returns whether the Repository's host reports to its token who can write. */
export function takesApprovalByComment({ ownerhost, groupedhost }: Repository['spec']): boolean {
  return ownerhost?.credentialsSecret !== undefined || groupedhost?.credentialsSecret !== undefined;
}

/** A text in a Secret: its description for messages, and the reason to report while it is missing. */
interface KeptText {
  what: string;
  missing: string;
}

const serviceFileOfSettings: KeptText = { what: 'the service file of the settings', missing: 'ServiceFileMissing' };

const serviceFileOfOverrides: KeptText = {
  what: 'the service file of the overrides',
  missing: 'ServiceFileMissing',
};

function variable(name: string): KeptText {
  return { what: `the variable ${name}`, missing: 'VariableMissing' };
}

type NamedVariable = VariableSpec & Pick<NamedSecret, 'namer'>;

function namedVariables(type: { kind: string }, object: Repository | Group | undefined): NamedVariable[] {
  if (!object) return [];
  // Names that only Coppice sets have no effect; a condition reports them.
  return (object.spec.variables ?? [])
    .filter(({ name }) => !isReservedName(name))
    .map((variable) => ({ ...variable, namer: secretNamer(type, object) }));
}

function overridingVariables(environment: Environment): NamedVariable[] {
  return (environment.spec.overrides?.variables ?? [])
    .filter(({ name }) => !isReservedName(name))
    .map((variable) => ({ ...variable, namer: secretNamer(ENVIRONMENT, environment) }));
}

function namedRegistrySecrets(type: { kind: string }, object: Repository | Group | undefined): NamedSecret[] {
  if (!object) return [];
  return (object.spec.registrySecrets ?? []).map((name) => ({ name, namer: secretNamer(type, object) }));
}

function textOf(
  secret: Secret | undefined,
  { name, key, namer }: NamedSecret & { key: string },
  { what, missing }: KeptText,
  namespace: string,
): string {
  const refusal = secret && secretRefusal(secret, namer);
  if (refusal !== undefined) throw new Stalled('SecretNotAllowed', `${what} cannot be read: ${refusal}`);
  const text = secretText(secret, key);
  if (text !== undefined) return text;
  throw new Waiting(
    missing,
    `${what} is in the key ${key} of the Secret ${name}, which is not in ${namespace}. Create it`,
    SECRET_RECHECK_MS,
  );
}
