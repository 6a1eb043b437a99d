import { expect, test } from '@jest/globals';
import { MAX_NAME_LENGTH } from '../../../service-file/read/names.ts';
import { buildArguments } from './build-arguments.ts';
import { buildSecret } from './credentials.ts';
import { buildJob } from './job.ts';
import type { BuildJobInput } from './job-input.ts';
import { authorityFiles, BUILD_CREDENTIALS, roleOf, SOURCE_CREDENTIALS } from './job-containers.ts';
import { recordedDigests, recordedReferences, RECORD_ANNOTATION, type ResolvedImage } from './resolved-build.ts';

const web: ResolvedImage = {
  image: {
    service: 'web',
    address: 'a1',
    context: 'web',
    dockerfile: 'docker/Dockerfile',
    target: 'production',
    platform: 'linux/arm64',
    args: { VERSION: '1 2', EMPTY: '', PATHS: '$(DOCKER_CONFIG) $$' },
    secrets: [{ id: 'npm,"x"', bundle: 'files-1', key: 'token' }],
    bases: ['docker.io/library/node:24'],
  },
  repository: 'registry/g/r/web',
  tag: 't1',
  reference: 'registry/g/r/web:t1',
};
const api: ResolvedImage = {
  image: {
    service: 'api',
    address: 'a2',
    context: 'api',
    dockerfile: 'api/Dockerfile',
    args: {},
    secrets: [],
    bases: [],
  },
  repository: 'registry/g/r/api',
  tag: 't2',
  reference: 'registry/g/r/api:t2',
};

const input: BuildJobInput = {
  namespace: 'env-x',
  labels: { owner: 'x' },
  number: 3,
  attempt: 0,
  clones: [
    {
      included: undefined,
      origin: 'https://git.example.com/x.git',
      ref: 'refs/heads/main',
      commit: 'c0ffee',
      files: ['gitconfig'],
    },
  ],
  build: { images: [web, api], digests: new Map([['docker.io/library/node:24', 'sha256:1']]) },
  missing: [web],
  trusted: true,
  noCache: false,
  builder: { address: 'tcp://10.0.0.7:1234', serverName: 'group-g' },
  cacheNamespace: (included) => `g/${included ?? 'r'}`,
  installation: 'i1',
  now: new Date('2026-01-01T00:00:00Z'),
  settings: {
    cloneImage: 'coppice:1',
    buildctlImage: 'buildkit:1',
    registryInsecure: true,
    sources: { allowedCidrs: ['10.0.0.0/8'], ports: [443], sshPorts: [22] },
    deadlineSeconds: 60,
  },
};

const pod = buildJob(input).spec?.template.spec;
const [, buildctl] = pod?.containers ?? [];

test('plans one deterministic Job for a build, with a deadline and no second attempt', () => {
  expect(buildJob(input)).toMatchObject({
    metadata: { name: 'build-3', namespace: 'env-x', labels: { owner: 'x', 'coppice.dev/build': '3' } },
    spec: { backoffLimit: 0, activeDeadlineSeconds: 60 },
  });
});

test('passes the proxy to build steps, before the arguments of the service file', () => {
  const settings = { ...input.settings, proxy: { HTTP_PROXY: 'http://user:secret@proxy:3128' } };
  const job = buildJob({ ...input, settings });
  const args = job.spec?.template.spec?.containers[1]?.args ?? [];
  expect(args.slice(args.indexOf('--opt=build-arg:HTTP_PROXY=$(BUILD_ARGUMENT_0)')).slice(0, 2)).toEqual([
    '--opt=build-arg:HTTP_PROXY=$(BUILD_ARGUMENT_0)',
    '--opt=build-arg:VERSION=$(BUILD_ARGUMENT_1)',
  ]);
  expect(buildArguments(web.image, { number: 3, settings })).toContainEqual(
    expect.objectContaining({ key: 'argument.3.web.0', value: 'http://user:secret@proxy:3128' }),
  );
});

test("passes arguments by the build's Secret, and keeps their values out of the Job", () => {
  const image = { ...web.image, args: { TOKEN: 'hunter2' } };
  const job = buildJob({ ...input, missing: [{ ...web, image }] });
  expect(JSON.stringify(job)).not.toContain('hunter2');
  expect(job.spec?.template.spec?.containers[1]?.env).toContainEqual({
    name: 'BUILD_ARGUMENT_0',
    valueFrom: { secretKeyRef: { name: BUILD_CREDENTIALS, key: 'argument.3.web.0' } },
  });
});

test('lets buildctl trust the authorities of the installation, which are in its Secret, when it requests tokens', () => {
  const builder = { ca: 'ca', certificate: 'certificate', key: 'key' };
  const envOf = (caCertificates?: string) => {
    const settings = { ...input.settings, caCertificates };
    return buildJob({ ...input, settings }).spec?.template.spec?.containers[1]?.env;
  };
  const dataOf = (caCertificates?: string) =>
    buildSecret('env-x', {}, builder, new Map(), '{}', authorityFiles({ caCertificates })).data;
  expect(Buffer.from(dataOf('pem')?.['authorities.crt'] ?? '', 'base64').toString()).toBe('pem');
  expect(envOf('pem')).toContainEqual({ name: 'SSL_CERT_FILE', value: '/credentials/authorities.crt' });
  expect(JSON.stringify(envOf())).not.toContain('SSL_CERT_FILE');
  expect(dataOf()).not.toHaveProperty('authorities.crt');
});

test('records all images and the names of their base images for a later operator', () => {
  const annotation = buildJob(input).metadata.annotations?.[RECORD_ANNOTATION];
  expect([...recordedReferences(annotation).values()]).toEqual([web.reference, api.reference]);
  expect(recordedDigests(annotation)).toEqual(input.build.digests);
});

test('records the ID of the request that started it, if any', () => {
  expect(buildJob({ ...input, requestId: 'r-1' }).metadata.annotations).toMatchObject({
    'coppice.dev/rest-request-id': 'r-1',
  });
  expect(Object.keys(buildJob(input).metadata.annotations ?? {})).toEqual([RECORD_ANNOTATION]);
});

test('plans another attempt as another Job with the same containers', () => {
  const job = buildJob({ ...input, attempt: 2 });
  expect(job.metadata.name).toBe('build-3-retry-2');
  expect(job.spec?.template.spec?.containers).toEqual(pod?.containers);
});

test.each([0, 2])('accepts the longest service name at attempt %i', (attempt) => {
  const image = { ...web.image, service: 'a'.repeat(MAX_NAME_LENGTH) };
  const { containers, volumes = [] } = buildJob({ ...input, attempt, missing: [{ ...web, image }] }).spec?.template
    .spec ?? { containers: [] };
  for (const { name } of [...containers, ...volumes]) expect(name).toMatch(/^[a-z0-9-]{1,63}$/);
});

test.each([
  ['clone', { stage: 'clone', service: '' }],
  ['build-web', { stage: 'build', service: 'web' }],
  ['clone-1', { stage: 'clone', service: '' }],
  ['build-clone', { stage: 'build', service: 'clone' }],
  ['build-2-x', { stage: 'build', service: '2-x' }],
])('sets up the container %s to work on %j', (container, role) => {
  expect(roleOf(container)).toEqual(role);
});

test('passes a secret as a file to the container of its build, and keeps it out of the Job', () => {
  const volumes = pod?.volumes?.filter(({ name }) => name.startsWith('secret-'));
  expect(volumes).toEqual([
    {
      name: 'secret-0-0',
      secret: { secretName: 'files-1', defaultMode: 0o440, items: [{ key: 'token', path: 'secret' }] },
    },
  ]);
  const mounting = (pod?.containers ?? []).filter(({ volumeMounts }) =>
    volumeMounts?.some(({ name }) => name === 'secret-0-0'),
  );
  expect(mounting.map(({ name }) => name)).toEqual(['build-web']);
  expect(buildctl?.args).toContain('--secret="id=npm,""x""",src=/build-secrets/0/secret');
});

test('passes no secrets to untrusted code', () => {
  const text = JSON.stringify(buildJob({ ...input, trusted: false }));
  expect(text).not.toMatch(/--secret|build-secrets|files-1/);
});

test('reads untrusted code by the built-in frontend, whatever it names', () => {
  const frontend = (trusted: boolean, syntax?: string) => {
    const args = { BUILDKIT_SYNTAX: 'evil/frontend' };
    const job = buildJob({ ...input, trusted, missing: [{ ...web, image: { ...web.image, args, syntax } }] });
    return job.spec?.template.spec?.containers[1]?.args?.filter((word) => word.startsWith('--opt=cmdline='));
  };
  expect(frontend(false)).toEqual(['--opt=cmdline=docker/dockerfile:1']);
  expect(frontend(false, 'docker/dockerfile:1.4')).toEqual(['--opt=cmdline=docker/dockerfile:1']);
  expect(frontend(true, 'docker/dockerfile:1.4')).toEqual(['--opt=cmdline=docker/dockerfile:1.4']);
  // buildkitd takes only the frontends that the installation lists.
  expect(frontend(true)).toEqual([]);
});

test.each([true, false])('builds without cache: %s', (noCache) => {
  const [, container] = buildJob({ ...input, noCache }).spec?.template.spec?.containers ?? [];
  expect(container?.args?.includes('--no-cache')).toBe(noCache);
});

test("gives the clone only the source's credentials, and buildctl only the builder's", () => {
  const mounts = (volume: string) =>
    (pod?.containers ?? [])
      .filter((container) => container.volumeMounts?.some(({ name }) => name === volume))
      .map(({ name }) => name);
  expect(pod?.volumes).toContainEqual(
    expect.objectContaining({ name: 'source', secret: expect.objectContaining({ secretName: SOURCE_CREDENTIALS }) }),
  );
  expect(pod?.volumes).toContainEqual(
    expect.objectContaining({ name: 'builder', secret: expect.objectContaining({ secretName: BUILD_CREDENTIALS }) }),
  );
  expect(mounts('source')).toEqual(['clone']);
  expect([mounts('clone-tmp'), mounts('tmp')]).toEqual([['clone'], ['build-web']]);
  expect(mounts('builder')).toEqual(['build-web']);
});

test('clones each repository into a volume of its own, with credentials that no other container sees', () => {
  const clones = [
    ...input.clones,
    {
      included: 'backend',
      origin: 'https://git.example.com/b.git',
      ref: 'refs/heads/main',
      commit: 'beef',
      files: ['gitconfig'],
    },
  ];
  const missing = [web, { ...api, image: { ...api.image, included: 'backend' } }];
  const spec = buildJob({ ...input, clones, missing }).spec?.template.spec;
  const mounts = (spec?.containers ?? []).map(({ name, volumeMounts = [] }) => [
    name,
    volumeMounts.map((one) => one.name),
  ]);
  expect(Object.fromEntries(mounts)).toEqual({
    clone: ['workspace', 'clone-tmp', 'source'],
    'clone-1': ['workspace-1', 'clone-tmp-1', 'source-1'],
    'build-web': ['workspace', 'tmp', 'builder', 'secret-0-0'],
    'build-api': ['workspace-1', 'tmp', 'builder'],
  });
  const items = (name: string) => spec?.volumes?.find((volume) => volume.name === name)?.secret?.items;
  expect(items('source')).toEqual([{ key: 'gitconfig', path: 'gitconfig' }]);
  expect(items('source-1')).toEqual([{ key: 'backend.gitconfig', path: 'gitconfig' }]);
  const of = (name: string) => spec?.containers.find((container) => container.name === name);
  expect(of('clone-1')?.env).toContainEqual({ name: 'ORIGIN', value: 'https://git.example.com/b.git' });
  expect(of('clone-1')?.env).toContainEqual({ name: 'INCLUDED', value: 'backend' });
  expect(JSON.parse(of('clone-1')?.env?.find(({ name }) => name === 'CLONE_SETTINGS')?.value ?? '')).toMatchObject({
    folders: ['api'],
  });
  expect(of('build-api')?.args).toContain('--opt=build-arg:BUILDKIT_CACHE_MOUNT_NS=g/backend');
});

test('runs no container as root, with a writable root file system or a service account token', () => {
  expect(pod?.automountServiceAccountToken).toBe(false);
  expect(pod?.securityContext).toMatchObject({ runAsNonRoot: true });
  for (const container of pod?.containers ?? []) {
    expect(container.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  }
});

test('passes the paths in the workspace to buildctl, and each argument as one word', () => {
  expect(buildctl?.args).toEqual(
    expect.arrayContaining([
      '--addr=tcp://10.0.0.7:1234',
      '--tlsservername=group-g',
      '--local=context=/workspace/source/web',
      '--local=dockerfile=/workspace/source/docker',
      '--opt=filename=Dockerfile',
      '--opt=target=production',
      '--opt=build-arg:VERSION=$(BUILD_ARGUMENT_0)',
      '--opt=build-arg:EMPTY=$(BUILD_ARGUMENT_1)',
      '--opt=build-arg:PATHS=$(BUILD_ARGUMENT_2)',
      '--opt=build-arg:BUILDKIT_CACHE_MOUNT_NS=g/r',
      '--opt=build-arg:BUILDKIT_MULTI_PLATFORM=false',
      '--opt=platform=linux/arm64',
      '--output=type=image,name=registry/g/r/web:t1,push=true,registry.insecure=true,oci-mediatypes=true,compression=zstd,' +
        'annotation.dev.coppice.built=2026-01-01T00:00:00.000Z,annotation.dev.coppice.installation=i1',
    ]),
  );
});
