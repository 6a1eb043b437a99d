import type { Environment } from '../../../../crds/environment.ts';
import { REPOSITORY, type Repository } from '../../../../crds/repository.ts';
import { ApiError } from '../../../../kubernetes/api-error.ts';
import type { ClusterClient } from '../../../../kubernetes/client.ts';
import type { KubernetesObject, ResourceType } from '../../../../kubernetes/resource-type.ts';
import type { Waiting } from '../../../shared/errors.ts';
import type { AuthorFacts } from '../../../../crds/rule-decision.ts';
import type { Capabilities, GitHost, ListedPullRequest } from '../../../source/hosts/host.ts';
import type { RemoteRefs } from '../../../source/git/remote-refs.ts';
import { StatusWriter } from '../../../shared/status-writer.ts';
import type { WebhookState } from '../../../source/webhooks/webhook-setup.ts';
import { RepositoryReconciler } from '../reconciler.ts';
import { RepositorySync } from '../repository-sync.ts';
import { groupFlows } from '../../../source/hosts/testing/group-flows.ts';

export const commitOf = (digit: number) => `${digit}`.repeat(40);

/** One Repository `acme.shop` at a fake host with settable responses, and a cluster that stores what is written. */
export class FakeWorld {
  now = Date.parse('2026-01-01T00:00:00Z');
  branches: Record<string, string> = { main: commitOf(1) };
  tags: Record<string, string> = {};
  pullRequests: ListedPullRequest[] | Error | undefined = [];
  /** Whom the host knows the authors of pull requests as, if it does not list them. */
  authors: ReadonlyMap<number, AuthorFacts> | Error = new Map();
  capabilities: Capabilities = { statuses: false, hooks: false };
  sshPublicKey: string | undefined;
  /** ID of the repository at the host; undefined for a host without IDs. */
  hostRepositoryId: string | undefined;
  /** Why its namespace belongs to no Group. */
  noGroup: Waiting | undefined;
  /** Error with which the host responds to everything. */
  hostError: Error | undefined;
  /** Runs before the host responds to a check. */
  beforeAnswer: () => Promise<void> = () => Promise.resolve();
  /** The webhook's state. */
  webhook: WebhookState | undefined;
  /** Error with which the host responds to listing its refs. */
  listError: Error | undefined;
  /** Minimum time between two lists of the refs. */
  gapMs = 0;
  readonly calls = { checks: 0, listings: 0, statusWrites: 0 };
  readonly environments = new Map<string, Environment>();
  readonly removedWebhooks: string[] = [];
  /** Environments whose deletion with their refs was reported. */
  readonly gone: string[] = [];
  repository: Repository | undefined;
  /** Called before each write of the cluster. */
  beforeWrite: (verb: string, name: string) => void = () => undefined;
  #version = 1;
  readonly #reconciler: RepositoryReconciler;

  constructor(spec: Partial<Repository['spec']> = {}) {
    this.repository = {
      apiVersion: 'coppice.dev/v1alpha1',
      kind: 'Repository',
      metadata: {
        namespace: 'group-acme',
        name: 'shop',
        uid: 'uid-of-shop',
        generation: 1,
        resourceVersion: '1',
        creationTimestamp: new Date(this.now).toISOString(),
      },
      spec: { type: 'generic', generic: { origin: 'https://git.example/shop.git' }, ...spec },
    };
    const client = this.#client();
    const now = () => new Date(this.now);
    const environments = {
      get: (key: string) => this.environments.get(key.replace('group-acme/', '')),
      byIndex: (_index: string, value: string) =>
        [...this.environments.values()].filter(({ spec }) => `group-acme/${spec.repository}` === value),
      observe: () => undefined,
    };
    const onRefGone = ({ metadata }: Environment) => void this.gone.push(metadata.name);
    const source = {
      listRefs: () => this.#listRefs(),
      listingWaitMs: () => this.gapMs,
      commitsOf: () => Promise.resolve(new Map<string, string>()),
    };
    this.#reconciler = new RepositoryReconciler({
      client,
      repositories: { get: () => this.repository },
      environments,
      groups: { problem: () => this.noGroup },
      hosts: { of: () => Promise.resolve(this.#host()), sshPublicKey: () => Promise.resolve(this.sshPublicKey) },
      sync: new RepositorySync({
        client,
        environments,
        repositories: { get: () => this.repository },
        source,
        flows: groupFlows,
        pollSeconds: 300,
        allowance: { of: () => 2000 },
        maxForkEnvironments: 2000,
        onRefGone,
        now,
      }),
      webhooks: {
        isDue: () => this.webhook !== undefined,
        ensure: () => Promise.resolve(this.webhook),
        remove: () => Promise.resolve(),
      },
      statuses: new StatusWriter<Repository>(client, REPOSITORY, { observe: () => undefined }),
      now,
    });
  }

  reconcile(signal: AbortSignal = new AbortController().signal) {
    return this.#reconciler.reconcile('group-acme/shop', signal);
  }

  annotate(annotations: Record<string, string>): void {
    this.change({ annotations: { ...this.repository?.metadata.annotations, ...annotations } });
  }

  change(metadata: Partial<Repository['metadata']>, spec: Partial<Repository['spec']> = {}): void {
    const { repository } = this;
    if (!repository) throw new Error('there is no Repository');
    const changed = { ...repository.metadata, resourceVersion: `${++this.#version}`, ...metadata };
    this.repository = { ...repository, metadata: changed, spec: { ...repository.spec, ...spec } };
  }

  condition(type: string) {
    const condition = this.repository?.status?.conditions?.find((one) => one.type === type);
    return condition && [condition.status, condition.reason, condition.message];
  }

  /** Names of the environments that exist and are not being deleted. */
  names(): string[] {
    return [...this.environments.values()]
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.name)
      .sort();
  }

  add(environment: Pick<Environment, 'spec' | 'status'>, metadata: Partial<Environment['metadata']>): void {
    const name = metadata.name ?? 'unnamed';
    this.environments.set(name, {
      apiVersion: 'coppice.dev/v1alpha1',
      kind: 'Environment',
      metadata: { namespace: 'group-acme', uid: `uid-of-${name}`, ...metadata, name },
      ...environment,
    });
  }

  #listRefs(): Promise<RemoteRefs> {
    this.calls.listings += 1;
    const error = this.hostError ?? this.listError;
    if (error) return Promise.reject(error);
    return Promise.resolve({
      branches: new Map(Object.entries(this.branches)),
      tags: new Map(Object.entries(this.tags)),
    });
  }

  #host(): GitHost {
    const access = { origin: 'https://git.example/shop.git', credentials: undefined };
    return {
      access,
      webUrl: 'https://git.example/shop',
      check: async () => {
        this.calls.checks += 1;
        await this.beforeAnswer();
        if (this.hostError) throw this.hostError;
        return this.capabilities;
      },
      repositoryId: () => Promise.resolve(this.hostRepositoryId),
      openPullRequests: () =>
        this.pullRequests instanceof Error ? Promise.reject(this.pullRequests) : Promise.resolve(this.pullRequests),
      authorsOf: () => (this.authors instanceof Error ? Promise.reject(this.authors) : Promise.resolve(this.authors)),
      pullRequest: (number) =>
        Promise.resolve({
          number,
          commit: undefined,
          isFork: true,
          location: { access, refName: `refs/pull/${number}/head` },
        }),
      setStatus: () => Promise.resolve(false),
      comment: () => Promise.resolve(undefined),
      writtenComment: () => Promise.resolve(undefined),
      ensureWebhook: () => Promise.resolve(undefined),
      removeWebhook: (id) => {
        this.removedWebhooks.push(id);
        return this.hostError ? Promise.reject(this.hostError) : Promise.resolve();
      },
    };
  }

  #client(): Pick<ClusterClient, 'create' | 'delete' | 'patch' | 'applyStatus'> {
    const client = {
      create: (_type: ResourceType, object: Environment) => {
        const { name } = object.metadata;
        this.beforeWrite('create', name);
        if (this.environments.has(name)) {
          return Promise.reject(new ApiError('POST', 409, 'AlreadyExists', 'it is there'));
        }
        this.add(object, object.metadata);
        return Promise.resolve(object);
      },
      delete: (_type: ResourceType, { name }: { name: string }) => {
        this.beforeWrite('delete', name);
        return this.environments.delete(name)
          ? Promise.resolve()
          : Promise.reject(new ApiError('DELETE', 404, 'NotFound', 'it is not there'));
      },
      patch: (
        type: ResourceType,
        { name }: { name: string },
        patch: Patch,
        options: { resourceVersion?: string } = {},
      ) => {
        this.beforeWrite('patch', name);
        const object = type.kind === 'Repository' ? this.repository : this.environments.get(name);
        if (!object) return Promise.reject(new ApiError('PATCH', 404, 'NotFound', 'it is not there'));
        const { resourceVersion } = options;
        if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion) {
          return Promise.reject(new ApiError('PATCH', 409, 'Conflict', 'it has changed'));
        }
        const written = this.#patched(object, patch);
        if (type.kind === 'Repository') this.repository = written as Repository;
        else this.environments.set(name, written as Environment);
        return Promise.resolve(written);
      },
      applyStatus: (_type: ResourceType, { status }: { status: Repository['status'] }) => {
        this.calls.statusWrites += 1;
        this.change({});
        if (this.repository) this.repository = { ...this.repository, ...(status && { status }) };
        return Promise.resolve(this.repository);
      },
    };
    return client as never;
  }

  #patched<T extends KubernetesObject>(object: T, { metadata }: Patch): T {
    const annotations = Object.entries({ ...object.metadata.annotations, ...metadata.annotations });
    const kept = annotations.filter((entry): entry is [string, string] => entry[1] !== null);
    const changed = { ...object.metadata, ...metadata, annotations: Object.fromEntries(kept) };
    return { ...object, metadata: { ...changed, resourceVersion: `${++this.#version}` } };
  }
}

interface Patch {
  metadata: { annotations?: Record<string, string | null>; finalizers?: string[] };
}
