import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { LABELS, MANAGED_BY } from '../../crds/labels.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { HttpTransport } from '../../kubernetes/http-transport.ts';
import { resourcePath } from '../../kubernetes/resource-path.ts';
import { Namespace, PersistentVolume, Pod, RoleBinding, Secret } from '../../kubernetes/resource-type.ts';
import {
  apiVersionOf,
  type KubernetesObject,
  type ObjectName,
  type ResourceType,
} from '../../kubernetes/resource-type.ts';
import { findCommandLineTools } from '../cluster/machine/command-line-tools.ts';
import { REPOSITORY_ROOT } from '../support/paths.ts';
import { startProgress } from '../support/progress.ts';
import { run } from '../support/run.ts';
import { deleteNamespace, eventually, randomName, testClient, testKubeConfig, unlessNotFound } from './api-server.ts';
import type { TestNamespaces } from './operator-objects.ts';

const timeoutMs = 10_000;

function clusterType(group: string, kind: string, plural: string): ResourceType {
  return { group, version: 'v1', kind, plural, namespaced: false };
}
const rbac = 'rbac.authorization.k8s.io';
const clusterRoleBinding = clusterType(rbac, 'ClusterRoleBinding', 'clusterrolebindings');
const admission = 'admissionregistration.k8s.io';
const policyTypes = [
  clusterType(admission, 'ValidatingAdmissionPolicy', 'validatingadmissionpolicies'),
  clusterType(admission, 'ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings'),
];

export const POLICY_TEMPLATES = ['operator', 'requests', 'api'].map((part) => `admission-policy-${part}.yaml`);

/** Renders templates of the chart with Helm, for a release in `namespace`. */
export async function rendered(
  templates: readonly string[],
  namespace: string,
  builders: string,
): Promise<KubernetesObject[]> {
  const { helm } = await findCommandLineTools(startProgress());
  const home = await mkdtemp(join(tmpdir(), 'helm-'));
  const values = ['registry.address=r.example.com', `builder.namespace=${builders}`, 'environments.shell.enabled=true'];
  const chart = join(REPOSITORY_ROOT, 'charts/coppice');
  const shown = templates.flatMap((template) => ['--show-only', `templates/${template}`]);
  const options = ['--namespace', namespace, ...shown];
  const text = await run(helm, ['template', 'coppice', chart, ...options, ...values.flatMap((one) => ['--set', one])], {
    env: { HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home, HELM_DATA_HOME: home },
  });
  return parseAllDocuments(text)
    .map((document) => document.toJS() as KubernetesObject | null)
    .filter((object) => object !== null);
}

/** Sends dry-run requests as one user: the API server processes them completely, but stores nothing. */
export class DryRun {
  readonly #transport: HttpTransport;

  constructor(user?: string) {
    const config = testKubeConfig();
    const current = config.getCurrentUser();
    if (!current) throw new Error('the kubeconfig has no current user');
    if (user !== undefined) config.users = [{ ...current, impersonateUser: user }];
    this.#transport = new HttpTransport(config, 'admission-tests');
  }

  create(type: ResourceType, object: KubernetesObject): Promise<unknown> {
    const path = resourcePath(type, { namespace: object.metadata.namespace });
    return this.#request({ method: 'POST', path, body: object });
  }

  patch(type: ResourceType, at: ObjectName, body: object): Promise<unknown> {
    return this.#patch(resourcePath(type, at), body);
  }

  patchStatus(type: ResourceType, at: ObjectName, status: object): Promise<unknown> {
    return this.#patch(`${resourcePath(type, at)}/status`, { status });
  }

  delete(type: ResourceType, at: ObjectName): Promise<unknown> {
    return this.#request({ method: 'DELETE', path: resourcePath(type, at) });
  }

  close(): void {
    this.#transport.close();
  }

  #patch(path: string, body: object): Promise<unknown> {
    return this.#request({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });
  }

  #request(request: Pick<Parameters<HttpTransport['request']>[0], 'method' | 'path' | 'body' | 'contentType'>) {
    return this.#transport.request({ ...request, query: { dryRun: 'All' }, timeoutMs });
  }
}

/** Objects for the requests: namespaces of Coppice and of others, with objects of known owners. */
export interface Fixture extends TestNamespaces {
  others: string;
  /** Namespaces that administrators created for groups; the second one has lost its label. */
  adopted: string;
  lost: string;
  /** PersistentVolumes of an environment's claim, and of others. */
  volume: string;
  foreignVolume: string;
}

export function fixture(): Fixture {
  // Differs from the groups of a Coppice that may be installed in the cluster.
  const group = randomName('admission');
  return {
    group,
    environment: `env-${group}`,
    groups: `group-${group}`,
    store: `reusable-${group}`,
    builders: randomName('builders'),
    system: randomName('system'),
    others: randomName('others'),
    adopted: `group-${group}-adopted`,
    lost: `group-${group}-lost`,
    volume: randomName('volume'),
    foreignVolume: randomName('volume'),
  };
}

/** An object without its kind and name. */
interface Part {
  metadata?: object;
  [field: string]: unknown;
}

/** The chart's policies, active for an operator whose roles permit everything; stop() deletes all objects. */
export class AdmissionPolicies {
  readonly #fixture: Fixture;
  readonly #client: ClusterClient = testClient();
  readonly #made: [ResourceType, string][] = [];
  readonly operator: DryRun;
  readonly administrator = new DryRun();

  constructor(given: Fixture) {
    this.#fixture = given;
    this.operator = new DryRun(`system:serviceaccount:${given.system}:coppice-operator`);
  }

  async start(): Promise<void> {
    const { environment, groups, store, builders, others, adopted, lost, system, volume, foreignVolume } =
      this.#fixture;
    await this.#makeNamespaces();
    await this.#make(clusterRoleBinding, system, {
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: rbac, kind: 'User', name: `system:serviceaccount:${system}:coppice-operator` }],
    });
    // No node runs it. A namespace gets its ServiceAccount, without which it can have no pods, after a moment.
    const pod: Pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: environment, name: 'pending', labels: { [LABELS.managedBy]: MANAGED_BY } },
      spec: { nodeSelector: { none: 'none' }, containers: [{ name: 'c', image: 'none.invalid/none:1' }] },
    };
    await eventually(() => this.#client.create(Pod, pod), 'a pod was created');
    await this.#make(PersistentVolume, volume, volumeOf(environment));
    await this.#make(PersistentVolume, foreignVolume, volumeOf(others));
    for (const namespace of [others, groups]) {
      const metadata = { namespace, name: 'theirs' };
      await this.#client.create(Secret, { apiVersion: 'v1', kind: 'Secret', metadata });
    }
    // None of these has Coppice's label, which was removed from `members`.
    const bare = { members: 'coppice-group-member', api: 'view', theirs: 'view', guests: 'coppice-group-member' };
    for (const namespace of [adopted, lost, others]) {
      for (const [name, role] of Object.entries(bare)) {
        await this.#client.create(RoleBinding, {
          apiVersion: `${rbac}/v1`,
          kind: 'RoleBinding',
          metadata: { namespace, name },
          roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
        });
      }
    }
    for (const policy of await rendered(POLICY_TEMPLATES, system, builders)) {
      // A release that is installed in the cluster has policies of the same names.
      const text = JSON.stringify(policy).replaceAll(
        /"coppice-(?:operator-(\w+)|environment-(requests)|api-(connections))"/g,
        (_, ...parts: (string | undefined)[]) => `"${system}-${parts.find((part) => part !== undefined) ?? ''}"`,
      );
      const { metadata, ...rest } = JSON.parse(text) as KubernetesObject & Part;
      const type = policyTypes.find(({ kind }) => kind === policy.kind);
      if (type) await this.#make(type, metadata.name, this.#limited(type, metadata.name, rest));
    }
    await eventually(async () => {
      const tries = [
        this.operator.create(Secret, { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: store, name: 'x' } }),
        this.operator.patch(PersistentVolume, { name: foreignVolume }, {}),
        this.operator.delete(Namespace, { name: others }),
      ];
      const ended = await Promise.allSettled(tries);
      if (ended.some(({ status }) => status === 'fulfilled')) throw new Error('a request was let through');
    }, 'the policies are in force');
  }

  async stop(): Promise<void> {
    for (const [type, name] of this.#made.reverse()) {
      if (type === Namespace) await deleteNamespace(this.#client, name);
      else await this.#client.delete(type, { name }).catch(unlessNotFound);
    }
    for (const one of [this.operator, this.administrator, this.#client]) one.close();
  }

  /** Limits the policy of requests, which concerns every user, to its own namespaces: end-to-end tests run meanwhile. */
  #limited(type: ResourceType, name: string, part: Part): Part {
    if (type.kind !== 'ValidatingAdmissionPolicyBinding' || !name.endsWith('-requests')) return part;
    const values = this.#made.flatMap(([of, made]) => (of === Namespace ? [made] : []));
    const matchExpressions = [{ key: 'kubernetes.io/metadata.name', operator: 'In', values }];
    const spec = z.looseObject({}).parse(part['spec']);
    return { ...part, spec: { ...spec, matchResources: { namespaceSelector: { matchExpressions } } } };
  }

  async #makeNamespaces(): Promise<void> {
    const { group, environment, groups, store, builders, others, adopted, lost } = this.#fixture;
    const labels = { [LABELS.managedBy]: MANAGED_BY, [LABELS.group]: group };
    const own = { metadata: { labels: { ...labels, 'pod-security.kubernetes.io/enforce': 'baseline' } } };
    for (const name of [environment, groups, store]) await this.#make(Namespace, name, own);
    await this.#make(Namespace, adopted, { metadata: { labels: { [LABELS.group]: `${group}-adopted` } } });
    for (const name of [builders, others, lost]) await this.#make(Namespace, name, {});
  }

  async #make(type: ResourceType, name: string, { metadata, ...rest }: Part): Promise<void> {
    const object = { apiVersion: apiVersionOf(type), kind: type.kind, ...rest, metadata: { ...metadata, name } };
    this.#made.push([type, name]);
    await this.#client.create(type, object);
  }
}

export function volumeOf(namespace: string) {
  return {
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
      hostPath: { path: '/nowhere' },
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName: 'none',
      claimRef: { namespace, name: 'volume-data' },
    },
  };
}
