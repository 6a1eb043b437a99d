import { ANNOTATIONS } from '../../../crds/labels.ts';
import { secretNamer, secretRefusal } from '../../../crds/named-secret.ts';
import { REPOSITORY, type Repository } from '../../../crds/repository.ts';
import { repositoryServer } from '../../../crds/repository-server.ts';
import type { RepositoryType } from '../../../crds/repository-source.ts';
import type { FlowOwner } from '../../../fair-queue/fair-queue.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import { Secret } from '../../../kubernetes/resource-type.ts';
import { secretText } from '../../../kubernetes/secret-texts.ts';
import { Stalled, Waiting } from '../../shared/errors.ts';
import type { Flows } from './flows.ts';
import type { Source, SourceAccess } from '../git/source.ts';
import { parseSshOrigin } from '../network/ssh-origin.ts';
import { CloudorgHost } from './cloudorg.ts';
import { GenericHost } from './generic.ts';
import { GroupedhostHost } from './groupedhost.ts';
import { trimSlash } from './host-api.ts';
import type { HostHttp } from './host-http.ts';
import type { GitHost } from './host.ts';
import { OwnerhostHost } from './ownerhost.ts';
import { WorkspacehostHost } from './workspacehost.ts';
import type { SshKeys } from './ssh-keys.ts';

/**
 * Wait before a missing Secret is read again, in milliseconds: it may be applied after the Repository, and is not
 * watched.
 */
export const SECRET_RECHECK_MS = 2000;

export interface GitHostsOptions {
  client: Pick<ClusterClient, 'find'>;
  source: Source;
  http: HostHttp;
  sshKeys: Pick<SshKeys, 'access' | 'publicKey'>;
  flows: Pick<Flows, 'ofNamespace'>;
  /** Addresses of the hosts for Repositories that name no instance. */
  defaults: GitHostDefaults;
}

export interface GitHostDefaults {
  ownerhost: { webUrl: string; apiUrl: string };
  groupedhost: { webUrl: string };
  workspacehost: { webUrl: string; apiUrl: string };
}

type Of<Type extends RepositoryType> = NonNullable<Repository['spec'][Type]>;

/** Connects to each Repository at the Git host that its spec names. */
export class GitHosts {
  readonly #options: GitHostsOptions;

  constructor(options: GitHostsOptions) {
    this.#options = options;
  }

  /**
   * Returns the Repository's host. Throws Waiting while the Secret with the credentials is missing; Stalled if the spec
   * names none and one is required.
   */
  async of(repository: Repository): Promise<GitHost> {
    const { spec } = repository;
    const { source, http } = this.#options;
    if (spec.generic) return new GenericHost(source, await this.#access(repository, spec.generic), http);
    if (spec.ownerhost) return this.#ownerhost(repository, spec.ownerhost);
    if (spec.groupedhost) return this.#groupedhost(repository, spec.groupedhost);
    if (spec.cloudorg) return this.#cloudorg(repository, spec.cloudorg);
    if (spec.workspacehost) return this.#workspacehost(repository, spec.workspacehost);
    throw new Stalled('Invalid', `the Repository has no object ${spec.type}, which configures its location. Add it`);
  }

  /** Returns the value of status.sshPublicKey: the key to register at a Git server, created if missing. */
  sshPublicKey(repository: Repository): Promise<string | undefined> {
    return this.#options.sshKeys.publicKey(repository);
  }

  async #ownerhost(named: Repository, spec: Of<'ownerhost'>): Promise<GitHost> {
    const { instanceUrl, owner, repo, credentialsSecret } = spec;
    const { http, source, defaults } = this.#options;
    const token = credentialsSecret === undefined ? undefined : await this.#token(named, credentialsSecret);
    const urls = ownerhostUrls(instanceUrl, defaults.ownerhost);
    return new OwnerhostHost({ http, source, ...urls, owner, repo, token, flowOwner: this.#flowOwnerOf(named) });
  }

  async #groupedhost(named: Repository, spec: Of<'groupedhost'>): Promise<GitHost> {
    const { instanceUrl, group, project, credentialsSecret } = spec;
    const { http, source, defaults } = this.#options;
    const token = await this.#token(named, credentialsSecret);
    return new GroupedhostHost({
      http,
      source,
      webUrl: instanceUrl ?? defaults.groupedhost.webUrl,
      group,
      project,
      token,
      flowOwner: this.#flowOwnerOf(named),
    });
  }

  async #cloudorg(named: Repository, spec: Of<'cloudorg'>): Promise<GitHost> {
    const { orgUrl, project, repoName, credentialsSecret } = spec;
    const { http, source } = this.#options;
    return new CloudorgHost({
      http,
      source,
      orgUrl,
      project,
      repoName,
      token: await this.#token(named, credentialsSecret),
      flowOwner: this.#flowOwnerOf(named),
    });
  }

  async #workspacehost(named: Repository, spec: Of<'workspacehost'>): Promise<GitHost> {
    const { workspace, repository, credentialsSecret } = spec;
    const { http, source, defaults } = this.#options;
    const token = await this.#token(named, credentialsSecret);
    const urls = defaults.workspacehost;
    return new WorkspacehostHost({
      http,
      source,
      ...urls,
      workspace,
      repository,
      token,
      flowOwner: this.#flowOwnerOf(named),
    });
  }

  async #access(repository: Repository, { origin, credentialsSecret }: Of<'generic'>): Promise<SourceAccess> {
    const flowOwner = this.#flowOwnerOf(repository);
    if (parseSshOrigin(origin)) {
      return { origin, credentials: undefined, ssh: await this.#options.sshKeys.access(repository), flowOwner };
    }
    if (credentialsSecret === undefined) return { origin, credentials: undefined, flowOwner };
    const [username = '', password = ''] = await this.#texts(repository, credentialsSecret, ['username', 'password']);
    return { origin, credentials: { username, password }, flowOwner };
  }

  #flowOwnerOf({ metadata }: Repository): FlowOwner {
    return this.#options.flows.ofNamespace(metadata.namespace);
  }

  async #token(repository: Repository, secret: string | undefined): Promise<string> {
    if (secret === undefined) {
      const advice = 'Name a Secret with the key token in credentialsSecret';
      throw new Stalled('CredentialsMissing', `this type of repository cannot be read without a token. ${advice}`);
    }
    const [token = ''] = await this.#texts(repository, secret, ['token']);
    // A token from a file often ends with a line feed, which HTTP headers do not permit.
    return token.trim();
  }

  async #texts(repository: Repository, name: string, keys: string[]): Promise<string[]> {
    const { namespace = '' } = repository.metadata;
    const secret = await this.#options.client.find(Secret, { namespace, name });
    const refusal = secret && credentialsRefusal(secret, repository);
    if (refusal !== undefined) throw new Stalled('SecretNotAllowed', refusal);
    const texts = keys.map((key) => secretText(secret, key)).filter((text) => text !== undefined);
    if (texts.length === keys.length) return texts;
    const named = keys.length > 1 ? `keys ${keys.join(' and ')}` : `key ${keys.join('')}`;
    throw new Waiting(
      'CredentialsMissing',
      `the Secret ${name} with the ${named} is not in ${namespace}. Create it`,
      SECRET_RECHECK_MS,
    );
  }
}

/** Returns why a Secret's credentials must not be sent to the Repository's server; undefined if they can be. */
function credentialsRefusal(secret: Secret, repository: Repository): string | undefined {
  const server = repositoryServer(repository.spec);
  const meant = secret.metadata.annotations?.[ANNOTATIONS.credentialsFor] ?? server;
  if (meant === server) return secretRefusal(secret, secretNamer(REPOSITORY, repository));
  const advice = 'Name a Secret with credentials for this server, or add the repository again';
  return `the credentials in the Secret ${secret.metadata.name} are for ${meant} and are not sent to ${server}. ${advice}`;
}

/**
 * Returns the addresses of a server. A self-hosted server has its API below the web address, the public host at a
 * separate one.
 */
export function ownerhostUrls(
  instanceUrl: string | undefined,
  configured: { webUrl: string; apiUrl: string },
): { webUrl: string; apiUrl: string } {
  if (instanceUrl === undefined || trimSlash(instanceUrl) === trimSlash(configured.webUrl)) return configured;
  return { webUrl: instanceUrl, apiUrl: `${trimSlash(instanceUrl)}/api/v3` };
}
