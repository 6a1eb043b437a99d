import { describe, expect, test } from '@jest/globals';
import type { Service } from '../../../service-file/schema.ts';
import { deployment } from './deployment.ts';
import { sampleContext, sampleService } from './testing/sample-context.ts';

function made(given: Partial<Service> = {}, isPublic = false) {
  const service = sampleService(given);
  const publicRoutes = isPublic ? [{ service: 'api', port: 3000, path: '/' }] : [];
  const images = new Map([['built', 'registry/built@sha256:1']]);
  const built = sampleService({ name: 'built', image: undefined, build: undefined });
  return deployment(sampleContext({ services: [service, built], publicRoutes }, { images }), service, 1).spec!;
}
const podOf = (given: Partial<Service>, isPublic = false) => made(given, isPublic).template.spec!;
const containerOf = (given: Partial<Service>, isPublic = false) => podOf(given, isPublic).containers[0]!;
const volume = { type: 'volume', volume: 'db', target: '/data', readOnly: false } as const;

describe('rollout', () => {
  test('starts new pods before old ones stop', () => {
    expect(made().strategy).toEqual({ type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } });
  });

  test.each([
    ['writes a volume', { mounts: [volume] }, 'Recreate'],
    ['only reads it', { mounts: [{ ...volume, readOnly: true }] }, 'RollingUpdate'],
  ])('rolls out a service that %s', (_what, given, expected) => {
    expect(made(given).strategy?.type).toBe(expected);
  });

  test('keeps a public pod that stops responding until no traffic reaches it', () => {
    expect(containerOf({}, true).lifecycle).toEqual({ preStop: { sleep: { seconds: 3 } } });
    expect(podOf({ stopGracePeriodSeconds: 20 }, true).terminationGracePeriodSeconds).toBe(23);
    expect(containerOf({}).lifecycle).toBeUndefined();
    expect(containerOf({ mounts: [volume] }, true).lifecycle).toBeUndefined();
  });

  test.each([
    ['SIGTERM', undefined],
    ['SIGQUIT', 'kill -QUIT 1; while kill -0 1; do sleep 1; done'],
    ['3', 'kill -3 1; while kill -0 1; do sleep 1; done'],
    ['; reboot', undefined],
  ])('sends the stop signal %s', (stopSignal, expected) => {
    expect(containerOf({ stopSignal }).lifecycle?.preStop?.exec?.command?.[2]).toBe(expected);
    expect(containerOf({ stopSignal, init: true }).lifecycle).toBeUndefined();
  });
});

describe('security', () => {
  test('has no token, privilege escalation or service links, and the default seccomp profile', () => {
    const pod = podOf({});
    expect(pod).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
    expect(pod.securityContext?.seccompProfile).toEqual({ type: 'RuntimeDefault' });
    expect(pod.containers[0]?.securityContext).toEqual({ allowPrivilegeEscalation: false });
  });

  test('sets the user and the capabilities', () => {
    const given = { user: { uid: 1000, gid: 50 }, groups: [7], capAdd: ['KILL'], capDrop: ['ALL'], readOnly: true };
    expect(podOf(given).securityContext).toMatchObject({ runAsUser: 1000, runAsGroup: 50, supplementalGroups: [7] });
    expect(containerOf(given).securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { add: ['KILL'], drop: ['ALL'] },
    });
  });

  test('turns labels into annotations with a prefix of Coppice, on which nothing in the cluster acts', () => {
    const labels = { team: 'a', 'k8s.v1.cni.cncf.io/networks': 'other' };
    expect(made({ labels }).template.metadata?.annotations).toEqual({ 'labels.coppice.dev/team': 'a' });
  });

  test('adds sysctls to the one that Docker sets', () => {
    expect(podOf({ sysctls: { 'net.ipv4.tcp_syncookies': '0' } }).securityContext?.sysctls).toEqual([
      { name: 'net.ipv4.ip_unprivileged_port_start', value: '0' },
      { name: 'net.ipv4.tcp_syncookies', value: '0' },
    ]);
  });
});

describe('container', () => {
  test('sets entrypoint and command as command and args, without expansion', () => {
    const given = { entrypoint: ['/run'], command: ['$(HOME)'], environment: { A: '$(B) $C $$' }, workingDir: '/app' };
    expect(containerOf(given)).toMatchObject({
      command: ['/run'],
      args: ['$$(HOME)'],
      env: [{ name: 'A', value: '$$(B) $$C $$$$' }],
      workingDir: '/app',
    });
  });

  test('runs the image of its service for a job', () => {
    expect(containerOf({ image: undefined, imageOf: 'built' }).image).toBe('registry/built@sha256:1');
  });

  test('sets ports, terminal, hosts and platform', () => {
    const given: Partial<Service> = {
      ports: [80],
      udpPorts: [53],
      tty: true,
      stdin: true,
      init: true,
      hostname: 'box',
      extraHosts: [{ ip: '1.2.3.4', hostnames: ['x'] }],
      platform: 'linux/arm64/v8',
    };
    expect(containerOf(given)).toMatchObject({
      ports: [
        { containerPort: 80, protocol: 'TCP' },
        { containerPort: 53, protocol: 'UDP' },
      ],
      tty: true,
      stdin: true,
    });
    expect(podOf(given)).toMatchObject({
      shareProcessNamespace: true,
      hostname: 'box',
      hostAliases: [{ ip: '1.2.3.4', hostnames: ['x'] }],
      nodeSelector: { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'arm64' },
    });
  });
});
