import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../kubernetes/resource-type.ts';
import type { Secret } from '../../kubernetes/resource-type.ts';
import { buildJob } from '../images/build/job.ts';
import type { BuildJobInput } from '../images/build/job-input.ts';
import { groupBuilder } from '../images/builders/identity.ts';
import { builderPod, builderRevision } from '../images/builders/objects.ts';
import { SETTINGS as builderSettings } from '../images/builders/testing/fake-cluster.ts';
import { copyJob } from '../kinds/reusable/copy-job.ts';
import { defaultPlatform, LEAVES_SOON, scheduled, type Scheduling } from './scheduling.ts';
import { measureJob } from '../reports/volume-sizes/measure-job.ts';
import { deployment } from '../services/objects/deployment.ts';
import { job } from '../services/objects/job.ts';
import { sampleContext, sampleService, SAMPLE_SETTINGS } from '../services/objects/testing/sample-context.ts';

const scheduling: Scheduling = {
  nodeSelector: { pool: 'strangers' },
  tolerations: [{ key: 'strangers', operator: 'Exists' }],
  affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
  priorityClassName: 'low',
  runtimeClassName: 'gvisor',
};
const context = sampleContext({}, { settings: { ...SAMPLE_SETTINGS, scheduling } });
const service = sampleService({ mounts: [{ type: 'volume', volume: 'db', target: '/data', readOnly: false }] });
const owner: Secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'group-acme', uid: 'u' } };
const builder = (changed: object) =>
  builderPod({
    identity: groupBuilder('acme'),
    owner,
    storage: '10Gi',
    settings: { ...builderSettings, ...changed },
  });
const buildInput = {
  namespace: 'env-x',
  labels: {},
  number: 1,
  attempt: 0,
  clones: [],
  build: { images: [], digests: new Map() },
  missing: [],
  trusted: true,
  noCache: false,
  settings: { cloneImage: 'coppice', buildctlImage: 'buildkit', scheduling, sources: {}, deadlineSeconds: 60 },
} as unknown as BuildJobInput;
const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'volume-db', namespace: 'env-x' } };
const copy = {
  id: 'c',
  source: { namespace: 'env-x', name: 'volume-db' },
  labels: {},
  environmentKey: '',
  environmentUid: '',
};

test.each<[what: string, spec: Pod['spec'] | undefined]>([
  ['a service', deployment(context, service, 1).spec?.template.spec],
  ['a job of a service', job(context, service).spec?.template.spec],
  [
    'a copy of a volume',
    copyJob(copy as never, { image: 'coppice', deadlineSeconds: 60, scheduling }).spec?.template.spec,
  ],
  [
    'the measuring of a volume',
    measureJob({ claim, build: 1, labels: {}, image: 'coppice', scheduling }).spec?.template.spec,
  ],
  ['a builder', builder({ scheduling }).spec],
  ['a build Job', buildJob(buildInput).spec?.template.spec],
])('schedules %s as the administrator configures', (_what, spec) => {
  const { affinity, tolerations, ...others } = scheduling;
  expect(spec).toMatchObject(others);
  expect(spec?.tolerations).toEqual(expect.arrayContaining(tolerations ?? []));
  expect(spec?.affinity).toMatchObject({ ...affinity });
});

describe('the requirements of a pod itself', () => {
  const podAffinity = [{ topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { a: 'b' } } }];

  test('apply alone without configuration', () => {
    expect(scheduled({}, { nodeSelector: { a: 'b' }, podAffinity })).toEqual({
      nodeSelector: { a: 'b' },
      affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: podAffinity } },
    });
    expect(scheduled(undefined)).toEqual({});
  });

  test("are added to the administrator's, whose node labels have precedence", () => {
    const other = { topologyKey: 'zone', labelSelector: {} };
    const given: Scheduling = {
      nodeSelector: { arch: 'amd64' },
      affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [other] } },
    };
    expect(scheduled(given, { nodeSelector: { arch: 'arm64', os: 'linux' }, podAffinity })).toEqual({
      nodeSelector: { arch: 'amd64', os: 'linux' },
      affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [other, ...podAffinity] } },
    });
  });
});

test('work that can be repeated is moved off a lost node soon, unless the administrator configured otherwise', () => {
  const unreachable = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', tolerationSeconds: 600 };
  const tolerations = [{ key: 'strangers', operator: 'Exists' }, unreachable];
  expect(scheduled({ tolerations }, { tolerations: LEAVES_SOON }).tolerations).toEqual([
    ...tolerations,
    expect.objectContaining({ key: 'node.kubernetes.io/not-ready', tolerationSeconds: 30 }),
  ]);
  expect(scheduled({}, { tolerations: LEAVES_SOON }).tolerations).toEqual(LEAVES_SOON);
  expect(scheduled({ tolerations: [{ operator: 'Exists' }] }, { tolerations: LEAVES_SOON }).tolerations).toHaveLength(
    1,
  );
});

describe('the platform', () => {
  const arch = (value: string): Scheduling => ({ nodeSelector: { 'kubernetes.io/arch': value } });

  test.each<[what: string, platform: string | undefined, environments: Scheduling, builders: Scheduling, is?: string]>([
    ['no settings', undefined, {}, {}, undefined],
    ['configured', 'linux/arm64', {}, arch('amd64'), 'linux/arm64'],
    ['the nodes of environments', undefined, arch('arm64'), arch('amd64'), 'linux/arm64'],
    ['the nodes of builders', undefined, {}, arch('arm64'), 'linux/arm64'],
  ])('is chosen by %s', (_what, platform, environments, builders, expected) => {
    const settings = { environments: { platform, scheduling: environments }, builder: { scheduling: builders } };
    expect(defaultPlatform(settings)).toBe(expected);
  });

  test('places builders on its nodes, unless the administrator lets them build for another one', () => {
    const platform = 'linux/arm64';
    const onArm = { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'arm64' };
    expect(builder({ platform }).spec?.nodeSelector).toEqual(onArm);
    const emulating = builder({ platform, scheduling: arch('amd64') });
    expect(emulating.spec?.nodeSelector).toMatchObject({ 'kubernetes.io/arch': 'amd64' });
  });

  test('recreates builders when it or the nodes change', () => {
    const revisions = [{}, { platform: 'linux/arm64' }, { scheduling }].map((changed) =>
      builderRevision(owner, { ...builderSettings, ...changed }),
    );
    expect(new Set(revisions).size).toBe(3);
  });
});
