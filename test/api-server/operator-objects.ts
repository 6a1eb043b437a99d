import { GROUP, type Group } from '../../crds/group.ts';
import type { KubernetesObject, Pod } from '../../kubernetes/resource-type.ts';
import { buildSecret, pullSecret, sourceSecret } from '../../operator/images/build/credentials.ts';
import { buildJob } from '../../operator/images/build/job.ts';
import type { BuildJobInput } from '../../operator/images/build/job-input.ts';
import { groupBuilder, ephemeralBuilder } from '../../operator/images/builders/identity.ts';
import { builderPod, builderPolicy, cacheVolume, certificateSecret } from '../../operator/images/builders/objects.ts';
import { fileObject, valuesObject } from '../../operator/kinds/environment/revision/revision-objects.ts';
import {
  environmentNamespaceObject,
  isolationObjects,
  apiBinding,
  membersBinding,
} from '../../operator/services/isolation/isolation-objects.ts';
import { ownedLabels } from '../../operator/kinds/environment/scope/owned-labels.ts';
import { groupLabels, groupNamespaceObject, roleBindings } from '../../operator/kinds/group/objects.ts';
import { copyJob } from '../../operator/kinds/reusable/copy-job.ts';
import { denyAll, storeNamespaceObject } from '../../operator/kinds/group/volume-store.ts';
import { stagingClaim, targetClaim, type VolumeCopy } from '../../operator/kinds/reusable/volume-copy.ts';
import { measureJob } from '../../operator/reports/volume-sizes/measure-job.ts';
import { deployment } from '../../operator/services/objects/deployment.ts';
import { ingress } from '../../operator/services/objects/ingress.ts';
import { job } from '../../operator/services/objects/job.ts';
import { networkPolicies } from '../../operator/services/objects/network-policies.ts';
import { kubernetesServices } from '../../operator/services/objects/service.ts';
import {
  SAMPLE_SETTINGS,
  sampleContext,
  sampleService,
} from '../../operator/services/objects/testing/sample-context.ts';
import { wakerSlice } from '../../operator/services/objects/waker-slices.ts';
import { claim } from '../../operator/services/objects/volumes.ts';
import { DEFAULT_EGRESS } from '../../operator/shared/testing/default-egress.ts';

/** Existing namespaces with Coppice's names. */
export interface TestNamespaces {
  group: string;
  environment: string;
  /** The namespace of the group. */
  groups: string;
  /** The namespace of the group's published volumes. */
  store: string;
  builders: string;
  /** The namespace of the release. */
  system: string;
}

const uid = 'd5d86d4e-5a4c-4b3e-9f0b-0a1b2c3d4e5f';
const image = 'none.invalid/none:1';

/** Returns at least one of each object that the operator creates, made by the operator's own functions. */
export function operatorObjects(testNamespaces: TestNamespaces): KubernetesObject[] {
  return [
    ...ofGroup(testNamespaces),
    ...ofBuilders(testNamespaces),
    ...ofBuild(testNamespaces),
    ...ofServices(testNamespaces),
  ];
}

function ofGroup(namespaces: TestNamespaces): KubernetesObject[] {
  const { group: name, groups: namespace, environment, store, builders, system } = namespaces;
  const group = {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: GROUP.kind,
    metadata: { name, uid },
    spec: { members: ['ada@example.com'], variables: [], registrySecrets: [] },
  } as Group;
  const roles = {
    member: 'coppice-group-member',
    api: 'coppice-group-api',
    apiServiceAccount: { namespace: system, name: 'coppice-api' },
  };
  const settings = {
    builderNamespace: builders,
    buildkitdPort: 1234,
    clonePorts: [443],
    egress: DEFAULT_EGRESS,
    quota: { pods: '50' },
    defaultRequests: { cpu: '10m' },
    defaultLimits: { memory: '1Gi' },
  };
  const labels = ownedLabels({ group: name, name: 'shop', uid });
  const owned = (object: string) => ({ name: object, namespace: environment, labels });
  const key: KubernetesObject & { type: string } = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name: 'webhook-shop', labels: groupLabels(name) },
    type: 'Opaque',
  };
  return [
    // Other names than the existing namespaces, which cannot be created again.
    groupNamespaceObject({ ...group, metadata: { ...group.metadata, name: `${name}-2` } }),
    storeNamespaceObject({ ...group, metadata: { ...group.metadata, name: `${name}-2` } }),
    environmentNamespaceObject(`${environment}-2`, labels, uid),
    ...roleBindings(group, roles),
    key,
    ...isolationObjects(owned, settings),
    membersBinding(owned, {
      role: 'coppice-environment-member',
      members: ['ada@example.com'],
      serviceAccount: roles.apiServiceAccount,
    }),
    apiBinding(owned, { role: 'coppice-environment-api', serviceAccount: roles.apiServiceAccount }),
    denyAll(store, groupLabels(name)),
  ];
}

function ofBuilders({ group, builders: namespace }: TestNamespaces): KubernetesObject[] {
  const settings = {
    namespace,
    image,
    configMap: 'buildkitd-1',
    resources: { requests: { cpu: '10m' } },
    idleSeconds: 60,
    startDeadlineSeconds: 60,
    cache: { size: '1Gi' },
    ephemeral: { maxConcurrent: 1, storage: '1Gi' },
  };
  const pair = { certificate: 'certificate', key: 'key' };
  const certificates = { ca: 'authority', server: pair, client: pair };
  const build = { environment: 'shop', environmentUid: uid, number: 1 };
  return [groupBuilder(group), ephemeralBuilder(group, build)].flatMap((identity) => {
    const secret = certificateSecret(identity, namespace, certificates);
    const owner = { ...secret, metadata: { ...secret.metadata, uid } };
    return [
      secret,
      cacheVolume(owner, settings),
      builderPolicy(identity, owner),
      builderPod({ identity, owner, storage: '1Gi', settings }),
    ];
  });
}

function ofBuild({ group, environment: namespace, store }: TestNamespaces): KubernetesObject[] {
  const labels = ownedLabels({ group, name: 'shop', uid });
  const built = {
    image: { service: 'web', address: 'a', context: '.', dockerfile: 'Dockerfile', args: {}, secrets: [], bases: [] },
    repository: 'r.example.com/g/r/web',
    tag: 't1',
    reference: 'r.example.com/g/r/web:t1',
  };
  const input: BuildJobInput = {
    ...{ namespace, labels, number: 1, attempt: 0, trusted: true },
    clones: [undefined, 'backend'].map((included) => ({
      ...{ included, ref: 'refs/heads/main', commit: 'c0ffee', files: ['gitconfig'] },
      origin: 'https://git.example.com/x.git',
    })),
    build: { images: [built], digests: new Map() },
    missing: [{ ...built, image: { ...built.image, secrets: [{ id: 'npm', bundle: 'files-1', key: 'token' }] } }],
    noCache: false,
    builder: { address: 'tcp://10.0.0.7:1234', serverName: 'group-g' },
    cacheNamespace: () => 'g/r',
    installation: 'i1',
    now: new Date(0),
    settings: {
      cloneImage: image,
      buildctlImage: image,
      registryInsecure: false,
      sources: { allowedCidrs: [], ports: [443], sshPorts: [22] },
      deadlineSeconds: 60,
    },
  };
  const builder = { ca: 'authority', certificate: 'certificate', key: 'key' };
  const claimed = claim(sampleContext({}, { namespace, labels }), { name: 'data' });
  const copy: VolumeCopy = {
    id: 'c1',
    source: { namespace, name: 'volume-data' },
    target: { namespace: store, name: 'copy-c1', labels: groupLabels(group), annotations: {} },
    size: '1Gi',
    storageClass: undefined,
    environmentKey: 'group-x/shop',
    environmentUid: uid,
    labels,
  };
  const bundle = (secret: boolean) => fileObject({ namespace, labels }, { name: 'file-1', secret }, new Map());
  return [
    pullSecret(namespace, labels, new Map()),
    sourceSecret(namespace, labels, [{ included: undefined, files: () => ({ gitconfig: '' }) }]),
    buildSecret(namespace, labels, builder, new Map(), '{}', [{ key: 'argument.1.web.0', value: 'x' }]),
    valuesObject({ namespace, labels }, hidden),
    bundle(true),
    bundle(false),
    buildJob(input),
    buildJob({ ...input, number: 2, trusted: false }),
    measureJob({ claim: claimed, build: 1, labels, image }),
    stagingClaim(copy),
    copyJob(copy, { image, deadlineSeconds: 60 }),
    targetClaim(copy, { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'none' } }),
  ];
}

const hidden = { secret: 'values-web-1', variables: { TOKEN: 'x' } };

function ofServices({ group, environment: namespace, system }: TestNamespaces): KubernetesObject[] {
  const web = sampleService({
    name: 'web',
    ports: [8080],
    udpPorts: [53],
    aliases: ['www'],
    labels: { team: 'shop' },
    environment: { TOKEN: 'x', MODE: 'test' },
    user: { uid: 0 },
    init: true,
    capAdd: ['NET_BIND_SERVICE'],
    capDrop: ['ALL'],
    readOnly: true,
    hostname: 'web',
    extraHosts: [{ ip: '10.0.0.1', hostnames: ['legacy'] }],
    platform: 'linux/amd64',
    networks: ['default'],
    mounts: [
      { type: 'volume', volume: 'data', target: '/data', readOnly: false },
      { type: 'empty', target: '/tmp', memory: true, size: '1Mi' },
      { type: 'files', bundle: 'files-1', target: '/etc/web' },
      { type: 'files', bundle: 'files-2', target: '/etc/key', key: 'k' },
      { type: 'files', bundle: 'files-3', target: '/etc/folder' },
      { type: 'files', bundle: 'files-4', target: '/etc/keys' },
    ],
  });
  const migrate = sampleService({ name: 'migrate', runs: 'once', networks: ['default'] });
  const file = (name: string, secret: boolean) => ({ name, secret, files: [{ key: 'k', path: 'k', mode: 0o444 }] });
  /** A bundle that is stored as two objects. */
  const folder = (name: string, secret: boolean) => {
    const stored = (object: string) => ({
      key: object,
      path: object,
      mode: 0o444,
      stored: { object, key: 'k', bytes: 1 },
    });
    return { name, secret, files: [stored('file-1'), stored('file-2')] };
  };
  const context = sampleContext(
    {
      services: [migrate, web],
      publicRoutes: [
        { service: 'web', port: 8080, path: '/' },
        { service: 'web', port: 8080, path: '/', alias: 'admin' },
      ],
      volumes: [{ name: 'data' }],
      bundles: [file('files-1', false), file('files-2', true), folder('files-3', false), folder('files-4', true)],
    },
    {
      ...{ namespace, labels: ownedLabels({ group, name: 'shop', uid }), id: { group, name: 'shop' } },
      hidden: new Map([['web', hidden]]),
      visits: 'watched',
      settings: {
        ...SAMPLE_SETTINGS,
        waker: { namespace: system, podLabels: { 'app.kubernetes.io/name': 'coppice-waker' }, image },
      },
    },
  );
  const front = ingress(context);
  const waker: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: system, name: 'coppice-waker-1' },
    status: { podIP: '10.0.0.1' },
  };
  return [
    deployment(context, web, 1),
    job(context, migrate),
    ...kubernetesServices(context, web),
    ...(front ? [front] : []),
    wakerSlice(context, 'web', [waker], { isRunning: false }),
    ...networkPolicies(context),
    claim(context, { name: 'data' }),
  ];
}
