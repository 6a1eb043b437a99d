import { expect, test } from '@jest/globals';
import { buildJob, BUILDER_SECRET, SOURCE_SECRET, type BuildJobInput } from './job.ts';

const input: BuildJobInput = {
  namespace: 'env-x',
  labels: { owner: 'x' },
  number: 3,
  origin: 'https://git.example.com/x.git',
  ref: 'refs/heads/main',
  commit: 'c0ffee',
  images: [
    {
      image: {
        service: 'web',
        tag: 't1',
        context: 'web',
        dockerfile: 'docker/Dockerfile',
        target: 'production',
        args: { VERSION: '1 2', EMPTY: '', PATHS: '$(DOCKER_CONFIG) $$' },
      },
      reference: 'registry/g/r/web:t1',
    },
  ],
  cacheNamespace: 'g/r',
  settings: {
    cloneImage: 'coppice:1',
    buildctlImage: 'buildkit:1',
    buildkitdAddress: 'tcp://buildkitd:1234',
    registryInsecure: true,
    deadlineSeconds: 60,
  },
};

const pod = buildJob(input).spec?.template.spec;

test('one deterministic Job for a build, with a deadline and no second try', () => {
  expect(buildJob(input)).toMatchObject({
    metadata: { name: 'build-3', namespace: 'env-x', labels: { owner: 'x', 'coppice.dev/build': '3' } },
    spec: { backoffLimit: 0, activeDeadlineSeconds: 60 },
  });
});

test('the clone sees the source credentials alone, buildctl the builder credentials alone', () => {
  const mounts = (volume: string) =>
    [...(pod?.initContainers ?? []), ...(pod?.containers ?? [])]
      .filter((container) => container.volumeMounts?.some(({ name }) => name === volume))
      .map(({ name }) => name);
  expect(pod?.volumes).toContainEqual(
    expect.objectContaining({ name: 'source', secret: expect.objectContaining({ secretName: SOURCE_SECRET }) }),
  );
  expect(pod?.volumes).toContainEqual(
    expect.objectContaining({ name: 'builder', secret: expect.objectContaining({ secretName: BUILDER_SECRET }) }),
  );
  expect(mounts('source')).toEqual(['clone']);
  expect(mounts('builder')).toEqual(['build-web']);
});

test('no container runs as root, writes its root file system, or has a service account token', () => {
  expect(pod?.automountServiceAccountToken).toBe(false);
  expect(pod?.securityContext).toMatchObject({ runAsNonRoot: true });
  for (const container of [...(pod?.initContainers ?? []), ...(pod?.containers ?? [])]) {
    expect(container.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  }
});

test('buildctl gets the paths in the workspace, each argument as one word', () => {
  expect(pod?.containers[0]?.args).toEqual(
    expect.arrayContaining([
      '--local=context=/workspace/source/web',
      '--local=dockerfile=/workspace/source/docker',
      '--opt=filename=Dockerfile',
      '--opt=target=production',
      '--opt=build-arg:VERSION=1 2',
      '--opt=build-arg:EMPTY=',
      '--opt=build-arg:PATHS=$$(DOCKER_CONFIG) $$$$',
      '--opt=build-arg:BUILDKIT_CACHE_MOUNT_NS=g/r',
      '--output=type=image,name=registry/g/r/web:t1,push=true,registry.insecure=true',
    ]),
  );
});
