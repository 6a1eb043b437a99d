import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { LABELS, MANAGED_BY } from '../../crds/labels.ts';
import * as types from '../../kubernetes/resource-type.ts';
import { apiVersionOf, type KubernetesObject, type ResourceType } from '../../kubernetes/resource-type.ts';
import { AdmissionPolicies, fixture, POLICY_TEMPLATES, rendered, volumeOf } from './admission-policies.ts';
import { operatorObjects } from './operator-objects.ts';

const {
  ConfigMap,
  Deployment,
  EndpointSlice,
  Ingress,
  Namespace,
  PersistentVolume,
  Pod,
  RoleBinding,
  Secret,
  Service,
} = types;
const kinds = Object.values(types).filter((one): one is ResourceType => typeof one === 'object' && 'plural' in one);

const testNamespaces = fixture();
const { environment, groups, builders, others, adopted, lost, volume, foreignVolume, system } = testNamespaces;
const policies = new AdmissionPolicies(testNamespaces);
const { operator, administrator } = policies;
beforeAll(() => policies.start(), 60_000);
afterAll(() => policies.stop());

const own = { [LABELS.managedBy]: MANAGED_BY, [LABELS.group]: testNamespaces.group };
const enforce = 'pod-security.kubernetes.io/enforce';
const moving = { metadata: { labels: { [LABELS.moving]: '1' } } };

function objectOf(type: ResourceType, namespace: string, rest: object = {}, metadata: object = {}): KubernetesObject {
  const { kind } = type;
  return {
    apiVersion: apiVersionOf(type),
    kind,
    ...rest,
    metadata: { namespace, name: 'x', labels: own, ...metadata },
  };
}

const confined = { name: 'c', image: 'none.invalid/none:1', securityContext: { allowPrivilegeEscalation: false } };
const podSpec = (spec: object) => ({ automountServiceAccountToken: false, containers: [confined], ...spec });
const builderUser = { securityContext: { runAsUser: 1000 } };
const podOf = (spec: object) => objectOf(Pod, builders, { spec: podSpec({ ...builderUser, ...spec }) });
const withBuilder = (securityContext: object) =>
  operator.create(Pod, podOf({ containers: [{ ...confined, securityContext }] }));
const bindingAt = (namespace: string, name: string) => ({ namespace, name });
function bind(namespace: string, name: string, role: string, ...subjects: object[]) {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role };
  return operator.create(RoleBinding, objectOf(RoleBinding, namespace, { roleRef, subjects }, { name }));
}
const namespaceOf = (name: string, labels: Record<string, string>) =>
  ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }) satisfies KubernetesObject;

function deploymentOf(spec: object, namespace = environment): KubernetesObject {
  const template = { metadata: { labels: { app: 'x' } }, spec: podSpec(spec) };
  return objectOf(Deployment, namespace, { spec: { selector: { matchLabels: { app: 'x' } }, template } });
}

const deploy = (spec: object, namespace?: string) => operator.create(Deployment, deploymentOf(spec, namespace));
const withContainer = (given: object) => deploy({ containers: [{ ...confined, ...given }] });
const serve = (spec: object) => operator.create(Service, objectOf(Service, environment, { spec }));
const backend = { service: { name: 'x', port: { number: 80 } } };
const publish = (spec: object) => operator.create(Ingress, objectOf(Ingress, environment, { spec }));
const waker = { kind: 'Pod', namespace: system, name: 'coppice-waker-1' };
/** Puts a pod behind a Service: by default the waker's, at its port. */
function lead(targetRef: object | undefined, { port = 3002, namespace = environment, manager = 'coppice.dev' } = {}) {
  const labels = { ...own, 'kubernetes.io/service-name': 'web', 'endpointslice.kubernetes.io/managed-by': manager };
  const endpoints = [{ addresses: ['10.0.0.1'], ...(targetRef && { targetRef }) }];
  const slice = { addressType: 'IPv4', endpoints, ports: [{ name: 'tcp-80', port }] };
  return operator.create(EndpointSlice, objectOf(EndpointSlice, namespace, slice, { labels }));
}
const pending = { namespace: environment, name: 'pending' };
const privileged = { securityContext: { privileged: true } };
const nodePath = { volumes: [{ name: 'v', hostPath: { path: '/' } }] };
const projected = (...sources: object[]) => ({ volumes: [{ name: 'v', projected: { sources } }] });
const ownToken = { serviceAccountToken: { path: 't' } };
const changeVolume = (name: string, change: object) => operator.patch(PersistentVolume, { name }, change);

test('permits everything that the operator writes', async () => {
  const objects = [...operatorObjects(testNamespaces), deploymentOf({}), podOf({})];
  const refused: string[] = [];
  for (const object of objects) {
    const type = kinds.find(({ kind }) => kind === object.kind);
    if (!type) throw new Error(`the test knows no ${object.kind}`);
    const what = `${object.kind} ${object.metadata.name}`;
    await operator.create(type, object).catch((error: unknown) => refused.push(`${what}: ${String(error)}`));
  }
  expect(refused).toEqual([]);
});

test.each<[string, () => Promise<unknown>]>([
  [
    'a note on a namespace',
    () => operator.patch(Namespace, { name: environment }, { metadata: { annotations: { a: 'b' } } }),
  ],
  [
    'Pod Security in a namespace that an administrator labelled for a group',
    () => operator.patch(Namespace, { name: adopted }, { metadata: { labels: { [enforce]: 'restricted' } } }),
  ],
  ['the failure of a pod', () => operator.patchStatus(Pod, pending, { phase: 'Failed' })],
  ['an environment’s end', () => operator.delete(Namespace, { name: environment })],
  ['a volume’s mark', () => changeVolume(volume, { ...moving, spec: { persistentVolumeReclaimPolicy: 'Retain' } })],
  [
    'a volume’s way',
    () => changeVolume(volume, { ...moving, spec: { claimRef: { namespace: testNamespaces.store, name: 'c' } } }),
  ],
  [
    'the label of its binding, which somebody took off',
    () => operator.patch(RoleBinding, bindingAt(adopted, 'members'), { metadata: { labels: own } }),
  ],
  ['the deletion of such a binding', () => operator.delete(RoleBinding, bindingAt(adopted, 'members'))],
  ['its end where the namespace lost its label', () => operator.delete(RoleBinding, bindingAt(lost, 'members'))],
])("permits a change of the operator's own object: %s", async (_what, act) => {
  await expect(act()).resolves.toMatchObject({});
});

describe('the operator is refused', () => {
  const safe = { ...own, [enforce]: 'baseline' };
  const theirs = (namespace: string) => ({ namespace, name: 'theirs' });
  test.each<[string, () => Promise<unknown>]>([
    ['a Secret elsewhere', () => operator.create(Secret, objectOf(Secret, others))],
    [
      'a ConfigMap of kube-system',
      () => operator.create(ConfigMap, objectOf(ConfigMap, 'kube-system', {}, { name: 'coppice-housekeeping' })),
    ],
    ['a Secret of kube-system', () => operator.create(Secret, objectOf(Secret, 'kube-system'))],
    ['a change of somebody’s Secret', () => operator.patch(Secret, theirs(others), { data: { a: 'Yg==' } })],
    ['to take a group’s Secret', () => operator.patch(Secret, theirs(groups), { metadata: { labels: own } })],
    ['to delete a group’s Secret', () => operator.delete(Secret, theirs(groups))],
    ['no label', () => operator.create(ConfigMap, objectOf(ConfigMap, environment, {}, { labels: {} }))],
    [
      'a token of a ServiceAccount',
      () => {
        const annotations = { 'kubernetes.io/service-account.name': 'default' };
        const type = 'kubernetes.io/service-account-token';
        return operator.create(Secret, objectOf(Secret, environment, { type }, { annotations }));
      },
    ],
    ['a workload in a group’s namespace', () => deploy({}, groups)],
    ['a workload elsewhere', () => deploy({}, others)],
    ['a workload in kube-system', () => deploy({}, 'kube-system')],
    ['a privileged container', () => withContainer(privileged)],
    ['a privileged init container', () => deploy({ initContainers: [{ ...confined, name: 'i', ...privileged }] })],
    ['a privileged builder', () => withBuilder(privileged.securityContext)],
    ['a builder with root’s capabilities', () => withBuilder({ capabilities: { add: ['SYS_ADMIN'] } })],
    ['a builder by root', () => withBuilder({ runAsUser: 0 })],
    ['a builder by whom its image names', () => operator.create(Pod, podOf({ securityContext: {} }))],
    [
      'a builder with the whole of /proc',
      () => {
        const containers = [{ ...confined, securityContext: { procMount: 'Unmasked' } }];
        return operator.create(Pod, podOf({ hostUsers: false, containers }));
      },
    ],
    [
      'an init container of a builder by root',
      () =>
        operator.create(
          Pod,
          podOf({ initContainers: [{ ...confined, name: 'i', securityContext: { runAsUser: 0 } }] }),
        ),
    ],
    ['more rights for who has few', () => withContainer({ securityContext: {} })],
    ['a path of the node', () => deploy(nodePath)],
    ['a builder with a path of the node', () => operator.create(Pod, podOf(nodePath))],
    ['a projected token', () => deploy(projected(ownToken))],
    ['a projected token beside files', () => deploy(projected({ configMap: { name: 'file-1' } }, ownToken))],
    ['a projection of the pod', () => deploy(projected({ downwardAPI: { items: [] } }))],
    ['the node’s network', () => deploy({ hostNetwork: true })],
    ['the node’s processes', () => deploy({ hostPID: true })],
    ['a port of the node', () => withContainer({ ports: [{ containerPort: 80, hostPort: 80 }] })],
    ['another ServiceAccount', () => deploy({ serviceAccountName: 'coppice-operator' })],
    ['a ServiceAccount’s token', () => deploy({ automountServiceAccountToken: true })],
    ['a port of all nodes', () => serve({ type: 'NodePort', ports: [{ port: 80 }] })],
    ['an address of others', () => serve({ ports: [{ port: 80 }], externalIPs: ['1.1.1.1'] })],
    ['visitors to a pod of another namespace', () => lead({ ...waker, namespace: 'kube-system' })],
    ['visitors to another pod', () => lead({ ...waker, name: 'coppice-api-1' })],
    ['visitors to any address', () => lead(undefined)],
    ['visitors to another port', () => lead(waker, { port: 3003 })],
    ['visitors of others', () => lead(waker, { namespace: others })],
    ['visitors of a builder', () => lead(waker, { namespace: builders })],
    ['an EndpointSlice of Kubernetes itself', () => lead(waker, { manager: 'endpointslice-controller.k8s.io' })],
    ['another address for a pod', () => operator.patchStatus(Pod, pending, { podIP: '10.0.0.1' })],
    [
      'other addresses for a pod',
      () => operator.patchStatus(Pod, pending, { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] }),
    ],
    ['another’s host', () => publish({ rules: [{ host: 'coppice.localhost' }] })],
    ['any host', () => publish({ rules: [{ http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }] })],
    ['all other hosts', () => publish({ defaultBackend: backend })],
    ['another role', () => bind(groups, 'members', 'admin')],
    ['another binding of its role', () => bind(groups, 'guests-2', 'coppice-group-member')],
    ['its role by the name of the other', () => bind(groups, 'members', 'coppice-group-api')],
    ['members to another role in an environment', () => bind(environment, 'members', 'coppice-group-member')],
    ['another binding of its role in an environment', () => bind(environment, 'x', 'coppice-environment-member')],
    [
      'the role of an environment’s members in a group’s namespace',
      () => bind(groups, 'members', 'coppice-environment-member'),
    ],
    ['the role of an environment’s members elsewhere', () => bind(others, 'members', 'coppice-environment-member')],
    ['the API to another role in an environment', () => bind(environment, 'api', 'coppice-environment-member')],
    ['the API’s role in a group’s namespace', () => bind(groups, 'api', 'coppice-environment-api')],
    ['the API’s role elsewhere', () => bind(others, 'api', 'coppice-environment-api')],
    ['the API’s role by another name', () => bind(environment, 'members', 'coppice-environment-api')],
    [
      'the API’s role for somebody else',
      () => {
        const subject = { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'mallory' };
        return bind(environment, 'api', 'coppice-environment-api', subject);
      },
    ],
    [
      'the API’s role for its own ServiceAccount',
      () => {
        const subject = { kind: 'ServiceAccount', namespace: 'coppice-system', name: 'coppice-operator' };
        return bind(environment, 'api', 'coppice-environment-api', subject);
      },
    ],
    ['a role elsewhere', () => bind(environment, 'api', 'coppice-group-api')],
    ['a role in a group’s namespace that lost its label', () => bind(lost, 'api', 'coppice-group-api')],
    [
      'to leave its binding without its label',
      () => operator.patch(RoleBinding, bindingAt(adopted, 'members'), { metadata: { labels: { a: 'b' } } }),
    ],
    [
      'to change its binding where the namespace lost its label',
      () => operator.patch(RoleBinding, bindingAt(lost, 'members'), { metadata: { labels: own } }),
    ],
    ...['api', 'theirs', 'guests'].flatMap((name): [string, () => Promise<unknown>][] => [
      [
        `to take an administrator’s binding ${name}`,
        () => operator.patch(RoleBinding, bindingAt(adopted, name), { metadata: { labels: own } }),
      ],
      [`to delete an administrator’s binding ${name}`, () => operator.delete(RoleBinding, bindingAt(adopted, name))],
    ]),
    [
      'to delete an administrator’s binding where the namespace lost its label',
      () => operator.delete(RoleBinding, bindingAt(lost, 'guests')),
    ],
    ['to delete a binding elsewhere', () => operator.delete(RoleBinding, bindingAt(others, 'members'))],
    ['a namespace of another name', () => operator.create(Namespace, namespaceOf(`${others}-2`, safe))],
    ['a namespace without its label', () => operator.create(Namespace, namespaceOf(`${environment}-2`, {}))],
    ['a namespace without Pod Security', () => operator.create(Namespace, namespaceOf(`${environment}-2`, own))],
    [
      'a privileged namespace',
      () => operator.patch(Namespace, { name: environment }, { metadata: { labels: { [enforce]: 'privileged' } } }),
    ],
    ['to take kube-system', () => operator.patch(Namespace, { name: 'kube-system' }, { metadata: { labels: safe } })],
    [
      'to take an administrator’s namespace for another group',
      () =>
        operator.patch(
          Namespace,
          { name: adopted },
          { metadata: { labels: { [LABELS.group]: 'another', [enforce]: 'restricted' } } },
        ),
    ],
    ['to delete an administrator’s namespace', () => operator.delete(Namespace, { name: adopted })],
    ['to delete others’ namespace', () => operator.delete(Namespace, { name: others })],
    [
      'a PersistentVolume',
      () => operator.create(PersistentVolume, { ...objectOf(PersistentVolume, ''), ...volumeOf(environment) }),
    ],
    ['to delete a PersistentVolume', () => operator.delete(PersistentVolume, { name: volume })],
    [
      'a volume of others',
      () => changeVolume(foreignVolume, { ...moving, spec: { claimRef: { namespace: environment } } }),
    ],
    ['a volume to others', () => changeVolume(volume, { ...moving, spec: { claimRef: { namespace: others } } })],
    ['a volume without a mark', () => changeVolume(volume, { spec: { persistentVolumeReclaimPolicy: 'Delete' } })],
    ['another size of a volume', () => changeVolume(volume, { ...moving, spec: { capacity: { storage: '9Gi' } } })],
  ])('%s', async (_what, act) => {
    await expect(act()).rejects.toThrow(`ValidatingAdmissionPolicy '${system}-`);
  });

  test('nobody else is refused', async () => {
    const theirs = deploymentOf({ hostNetwork: true }, others);
    await expect(administrator.create(Deployment, theirs)).resolves.toMatchObject({});
  });
});

/** Coppice's own kinds, and kinds that can do no harm: only RBAC restricts what the operator writes of them. */
const unguarded = ['coppice.dev', 'coordination.k8s.io leases', ' events', 'rbac.authorization.k8s.io clusterroles'];

test("covers everything that the operator's roles permit it to write", async () => {
  const roles = await rendered(['operator-rbac.yaml', 'builder-rbac.yaml'], 'x', 'b');
  const named = (rules: { apiGroups: string[]; resources: string[] }[]) =>
    rules.flatMap(({ apiGroups, resources }) => resources.map((resource) => `${apiGroups[0] ?? ''} ${resource}`));
  const written = roles.flatMap((role) => {
    const rules = (role as unknown as { rules?: { apiGroups: string[]; resources: string[]; verbs: string[] }[] })
      .rules;
    return (rules ?? []).filter(({ verbs }) => verbs.some((verb) => !['get', 'list', 'watch'].includes(verb)));
  });
  const checked = (await rendered(POLICY_TEMPLATES, 'x', 'b')).flatMap((policy) => {
    const { spec } = policy as unknown as {
      spec: { matchConstraints?: { resourceRules: { apiGroups: string[]; resources: string[] }[] } };
    };
    return named(spec.matchConstraints?.resourceRules ?? []);
  });
  const open = named(written).filter(
    (one) => !checked.includes(one) && !unguarded.some((known) => one.startsWith(known)),
  );
  expect(written.length).toBeGreaterThan(10);
  expect(open).toEqual([]);
});
