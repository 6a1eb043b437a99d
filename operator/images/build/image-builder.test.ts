import { describe, expect, test } from '@jest/globals';
import { LABELS } from '../../../crds/labels.ts';
import { ApiError, UnreachableError } from '../../../kubernetes/api-error.ts';
import type { Job, Pod } from '../../../kubernetes/resource-type.ts';
import type { ImageInRegistry } from '../registry/client.ts';
import { FoundImages } from '../registry/found-images.ts';
import { HostBusyError } from '../../source/errors.ts';
import { type BuildRequest, UNREAD } from './build-request.ts';
import { ImageBuilder, type ImageBuilderOptions } from './image-builder.ts';
import { recordedDigests, RECORD_ANNOTATION } from './resolved-build.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
const node = 'docker.io/library/node:24';

/** A cluster and a registry for builds. */
function world() {
  const jobs = new Map<string, Job>();
  const pods: Pod[] = [];
  const pushed = new Map<string, ImageInRegistry>();
  const lines: string[] = [];
  const secrets: Record<string, Record<string, string>> = {};
  const digests = new Map([[node, 'sha256:1']]);
  const events: object[] = [];
  const deleted: string[] = [];
  const checks: number[] = [];
  const builder = { isGone: false };
  const waiting: { position?: { position: number; of: number }; isKnown?: boolean; left: string[]; asked: object[] } = {
    left: [],
    asked: [],
  };
  /** Errors with which the API server refuses a new Job or a deletion. */
  const refuse: { create?: Error; delete?: (kind: string) => Error | undefined } = {};
  const options = {
    client: {
      find: () => Promise.resolve(undefined),
      list: () => Promise.resolve({ items: events }),
      create: (_type: unknown, job: Job) => {
        if (refuse.create) return Promise.reject(refuse.create);
        job.metadata.creationTimestamp = new Date(start).toISOString();
        return Promise.resolve(job);
      },
      delete: ({ kind }: { kind: string }, { name }: { name: string }) => {
        const error = refuse.delete?.(kind);
        if (error) return Promise.reject(error);
        deleted.push(name);
        jobs.delete(`env-x/${name}`);
        return Promise.resolve();
      },
    },
    applier: {
      apply: (
        _type: unknown,
        { metadata, data = {} }: { metadata: { name: string }; data?: Record<string, string> },
      ) => {
        secrets[metadata.name] = Object.fromEntries(
          Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64').toString('utf8')]),
        );
        return Promise.resolve();
      },
    },
    jobs: {
      get: (key: string) => jobs.get(key),
      observe: (job: Job) => jobs.set(`env-x/${job.metadata.name}`, job),
      byIndex: () => [...jobs.values()],
    },
    pods: { byIndex: () => pods },
    source: { files: () => Promise.resolve(() => ({ gitconfig: '[http]' })) },
    registry: { find: (repository: string, tag: string) => Promise.resolve(pushed.get(`${repository}:${tag}`)) },
    baseImages: { digests: () => Promise.resolve({ digests: new Map(digests), failures: new Map(), unasked: 0 }) },
    found: new FoundImages(),
    queues: {
      leave: () => undefined,
      of: () => ({
        positionOf: (build: object) => {
          waiting.asked.push(build);
          return waiting.position;
        },
        isWaiting: () => waiting.isKnown === true,
        leave: (id: string) => void waiting.left.push(id),
      }),
    },
    imageRegistry: { address: 'r:5000', layout: 'nested' },
    maxImageBytes: 2 ** 30,
    access: { forBuild: () => ({ username: 'me', password: 'password' }) },
    builders: {
      acquire: () => Promise.resolve({ address: 'tcp://b:1', serverName: 'b', ca: '', certificate: '', key: '' }),
      isGone: () => builder.isGone,
    },
    installation: () => Promise.resolve('i1'),
    settings: {
      cloneImage: 'coppice',
      buildctlImage: 'buildkit',
      registryInsecure: true,
      sources: { allowedCidrs: [], ports: [443], sshPorts: [22] },
      deadlineSeconds: 60,
    },
  };
  const drained = { is: true };
  const pushing = { isReported: false };
  const builds = new ImageBuilder(options as unknown as ImageBuilderOptions);
  const log = {
    note: (_key: string, { line }: { line: string }) => Promise.resolve(void lines.push(line)),
    follow: () => undefined,
    isDrained: () => drained.is,
    havePushed: () => pushing.isReported,
  };
  const image = { context: '.', dockerfile: 'Dockerfile', args: {}, secrets: [] };
  const request = {
    namespace: 'env-x',
    labels: {},
    number: 1,
    buildId: 'uid/1',
    environment: { name: 'x', uid: 'uid' },
    repository: { group: 'g', name: 'r' },
    repositoryUid: 'r1',
    locate: () =>
      Promise.resolve({
        access: { origin: 'https://git.example.com/x.git', credentials: undefined },
        refName: 'refs/heads/main',
      }),
    registrySecrets: [],
    commit: 'c0ffee',
    trusted: true,
    noCache: false,
    images: [
      { ...image, service: 'web', address: 'a1', bases: [node] },
      { ...image, service: 'api', address: 'a2', bases: [] },
    ],
    log,
  } as unknown as BuildRequest;
  const job = (name: string) => jobs.get(`env-x/${name}`);
  return {
    jobs,
    lines,
    secrets,
    digests,
    events,
    deleted,
    checks,
    refuse,
    waiting,
    builder,
    drained,
    pushing,
    pods,
    job,
    cleanUp: (running?: number) => builds.cleanUp('env-x', running),
    build: async (change: Partial<BuildRequest> = {}, afterMs = 0) => {
      const { built, requeueAfterMs } = await builds.build({ ...request, ...change }, new Date(start + afterMs));
      if (requeueAfterMs !== undefined) checks.push(requeueAfterMs);
      return built;
    },
    isOver: () => builds.isOver(request),
    gracePeriodMs: (afterMs: number) => builds.gracePeriodMs(request, new Date(start), new Date(start + afterMs)),
    pushed,
    /** Returns the references that a Job's containers push; the first container clones. */
    references: (name: string) =>
      (job(name)?.spec?.template.spec?.containers ?? [])
        .slice(1)
        .map(({ args = [] }) => /name=r:5000\/([^,]+)/.exec(args.join(' '))?.[1] ?? ''),
    push: (...references: string[]) => {
      for (const reference of references)
        pushed.set(reference, { digest: `sha256:${reference}`, layers: [], annotations: {} });
    },
    pushLayers: (reference: string, ...sizes: number[]) => {
      const layers = sizes.map((sizeBytes, index) => ({ digest: `sha256:${index}`, sizeBytes }));
      pushed.set(reference, { digest: `sha256:${reference}`, layers, annotations: {} });
    },
    end: (name: string, type: 'Complete' | 'Failed', words = '') => {
      const found = job(name);
      if (!found) throw new Error(`there is no ${name}`);
      const lastTransitionTime = new Date(start).toISOString();
      found.status = { conditions: [{ type, status: 'True', lastTransitionTime }] };
      const state = { terminated: { exitCode: 1, message: words } };
      const labels = { 'batch.kubernetes.io/job-name': name };
      pods.push({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, namespace: 'env-x', labels },
        status: { containerStatuses: type === 'Failed' ? [{ name: 'build-web', state }] : [] },
      } as unknown as Pod);
      found.metadata.namespace = 'env-x';
    },
  };
}

test.each([
  ['at the limit is deployed', [2 ** 29, 2 ** 29], undefined],
  ['above it is not', [2 ** 29, 2 ** 29 + 2 ** 28], 'images have more than 1 GiB of layers: web (1.25 GiB)'],
])('an image %s', async (_, sizes, refusal) => {
  const { build, references, push, pushLayers, jobs } = world();
  await build();
  const [web = '', api = ''] = references('build-1');
  push(api);
  pushLayers(web, ...sizes);
  jobs.clear();
  const built = build();
  if (refusal === undefined) expect((await built)?.images).toHaveLength(2);
  else
    await expect(built).rejects.toMatchObject({ reason: 'ImageTooLarge', message: expect.stringContaining(refusal) });
});

describe('a build whose builder no longer exists', () => {
  async function started() {
    const made = world();
    await made.build();
    const job = made.job('build-1');
    if (job) job.metadata.namespace = 'env-x';
    const labels = { 'batch.kubernetes.io/job-name': 'build-1' };
    const containerStatuses = [{ name: 'build-web', state: { running: {} } }];
    const pod = { metadata: { name: 'build-1-x', namespace: 'env-x', labels }, status: { containerStatuses } };
    made.pods.push(pod as unknown as Pod);
    made.builder.isGone = true;
    return made;
  }

  test('is tried again if it does not end by itself', async () => {
    const { build, checks, job, deleted, lines } = await started();
    await build({}, 1000);
    await build({}, 20_000);
    expect([checks, job('build-1-retry-1')]).toEqual([[20_000, 1000], undefined]);
    await expect(build({}, 21_000)).rejects.toMatchObject({ reason: 'Retrying' });
    await build({}, 26_000);
    expect([job('build-1-retry-1') !== undefined, deleted]).toEqual([true, ['build-1']]);
    expect(lines[0]).toContain('the builder was deleted, or its node does not respond');
  });

  test('continues if the builder was only not seen yet', async () => {
    const { build, builder, job } = await started();
    await build({}, 1000);
    builder.isGone = false;
    await build({}, 22_000);
    builder.isGone = true;
    await build({}, 23_000);
    expect(job('build-1-retry-1')).toBeUndefined();
  });

  test('ends by its own failure if it reports one', async () => {
    const { build, end, pods } = await started();
    await build({}, 1000);
    pods.splice(0);
    end('build-1', 'Failed', 'error: failed to solve: process did not complete successfully: exit code: 1');
    await expect(build({}, 2000)).rejects.toMatchObject({ reason: 'BuildFailed' });
  });
});

const lost = 'error: failed to solve: Unavailable: error reading from server: EOF';

test('queues a build, but not one that needs no Job', async () => {
  const { build, waiting, jobs, push, references } = world();
  waiting.position = { position: 2, of: 3 };
  await expect(build()).rejects.toMatchObject({
    reason: 'Queued',
    message: expect.stringContaining('position 2 of 3'),
  });
  expect(jobs.size).toBe(0);
  // The queue is fair among groups, and counts environments towards the limit of a group by this key.
  expect(waiting.asked).toEqual([{ id: 'uid/1', group: 'g', environmentKey: 'group-g/x' }]);
  delete waiting.position;
  await build();
  waiting.position = { position: 1, of: 1 };
  push(...references('build-1'));
  jobs.clear();
  expect((await build())?.images).toHaveLength(2);
  expect(waiting.left).toEqual(['uid/1']);
  waiting.isKnown = true;
  await expect(build()).rejects.toMatchObject({ reason: 'Queued' });
});

test('builds missing images, and returns digests once they exist', async () => {
  const { build, references, push, end, lines } = world();
  expect(await build()).toBeUndefined();
  const [web = '', api = ''] = references('build-1');
  expect([web, api]).toEqual([expect.stringMatching(/^g\/r\/web:/), expect.stringMatching(/^g\/r\/api:/)]);
  expect(await build()).toBeUndefined();
  end('build-1', 'Complete');
  push(web, api);
  expect((await build())?.images.map(({ image }) => image)).toEqual([
    `r:5000/g/r/api@sha256:${api}`,
    `r:5000/g/r/web@sha256:${web}`,
  ]);
  expect(lines).toEqual([]);

  const second = await build({ number: 2 });
  expect(second?.images).toHaveLength(2);
  expect(lines).toEqual(expect.arrayContaining([expect.stringMatching(/unchanged/)]));
});

describe('containers that ended before the Job controller reported it', () => {
  const finishedAt = new Date(start + 1000).toISOString();
  const well = { terminated: { exitCode: 0, finishedAt } };
  /** Returns a pod whose clone has succeeded, with these statuses of the two containers beside it. */
  const podOf = (...beside: object[]) => podOfAll(well, ...beside);
  const podOfAll = (...states: object[]) => {
    const labels = { 'batch.kubernetes.io/job-name': 'build-1' };
    const names = ['clone', 'build-web', 'build-api'];
    return {
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'build-1-x', namespace: 'env-x', labels } },
      spec: { containers: names.map((name) => ({ name })) },
      status: { phase: 'Running', containerStatuses: states.map((state, index) => ({ name: names[index], state })) },
    } as unknown as Pod;
  };
  async function built(...states: object[]) {
    const made = world();
    await made.build();
    const job = made.job('build-1');
    if (job) job.metadata.namespace = 'env-x';
    made.push(...made.references('build-1'));
    made.pods.push(podOf(...states));
    return made;
  }

  test('end the build if all succeeded', async () => {
    const { build } = await built(well, well);
    expect((await build({}, 1500))?.images).toHaveLength(2);
  });

  test('have their logs awaited for a limited time', async () => {
    const { build, drained, lines } = await built(well, well);
    drained.is = false;
    await expect(build({}, 30_000)).rejects.toMatchObject({ reason: 'CollectingLogs' });
    expect(lines).not.toContain(UNREAD);
    expect((await build({}, 31_001))?.images).toHaveLength(2);
    expect(lines).toContain(UNREAD);
  });

  test('do not end the build while the clone runs', async () => {
    const { build, pods } = await built();
    pods.splice(0, 1, podOfAll({ running: {} }, well, well));
    expect(await build({}, 1500)).toBeUndefined();
  });

  test.each([
    ['one that runs', [well, { running: {} }]],
    ['one that failed', [well, { terminated: { exitCode: 1, finishedAt } }]],
    ['one that is not notified of yet', [well]],
    ['a pod that no event announces', []],
  ])('do not end the build: %s', async (_what, states) => {
    const { build } = await built(...states);
    expect(await build({}, 1500)).toBeUndefined();
  });

  describe('and whose log reports the push', () => {
    const working = { running: {} };

    test('are no longer awaited, because the images exist before the Job ends', async () => {
      const { build, isOver, pods, pushing, drained } = await built(working, working);
      pushing.isReported = true;
      expect([(await build({}, 500))?.images.length, isOver()]).toEqual([2, false]);
      pods.splice(0, 1, podOf(well, well));
      drained.is = false;
      expect(isOver()).toBe(false);
      drained.is = true;
      expect(isOver()).toBe(true);
    });

    test('count only if the registry has the images', async () => {
      const { build, pushing, pushed, waiting } = await built(working, working);
      pushing.isReported = true;
      pushed.delete([...pushed.keys()][0] ?? '');
      expect([await build({}, 500), waiting.left]).toEqual([undefined, []]);
    });

    test('have half a minute to end if there is a pod', async () => {
      const { gracePeriodMs, isOver, pods } = await built(working, working);
      expect([0, 29_999, 30_001].map(gracePeriodMs)).toEqual([30_000, 1, 0]);
      pods.splice(0, 1);
      expect([gracePeriodMs(0), isOver()]).toEqual([0, true]);
    });
  });
});

describe('a clone that ended so early that nothing ends with it', () => {
  const finishedAt = new Date(start + 1000).toISOString();
  async function stranded(message: string) {
    const made = world();
    await made.build();
    const job = made.job('build-1');
    if (job) job.metadata.namespace = 'env-x';
    made.pods.push({
      ...{ apiVersion: 'v1', kind: 'Pod' },
      metadata: { name: 'build-1-x', namespace: 'env-x', labels: { 'batch.kubernetes.io/job-name': 'build-1' } },
      status: {
        containerStatuses: [
          { name: 'clone', state: { terminated: { exitCode: 128, finishedAt, message } } },
          { name: 'build-web', state: { running: {} } },
        ],
      },
    } as unknown as Pod);
    return made;
  }

  test('fails the build after ten seconds', async () => {
    const { build, checks } = await stranded('argument list too long');
    expect([await build({}, 2000), checks.at(-1)]).toEqual([undefined, 9000]);
    await expect(build({}, 11_000)).rejects.toMatchObject({
      reason: 'BuildFailed',
      message: expect.stringContaining('the clone failed (exit code 128):\nargument list too long'),
    });
  });

  test('is retried if that may help, and its Job is ended', async () => {
    const { build, job, deleted } = await stranded('fatal: unable to access: Could not resolve host: x');
    await expect(build({}, 11_000)).rejects.toMatchObject({ reason: 'Retrying', afterMs: 5000 });
    expect(await build({}, 16_000)).toBeUndefined();
    expect([job('build-1-retry-1')?.metadata.name, deleted]).toEqual(['build-1-retry-1', ['build-1']]);
  });
});

test('counts a layer that two images share once', async () => {
  const { build, references, pushed } = world();
  await build();
  const base = { digest: 'sha256:base', sizeBytes: 1000 };
  const [web = '', api = ''] = references('build-1');
  for (const [reference, sizeBytes] of [
    [web, 20],
    [api, 3],
  ] as const) {
    const layers = [base, { digest: `sha256:layer-of-${reference}`, sizeBytes }];
    pushed.set(reference, { digest: `sha256:${reference}`, layers, annotations: {} });
  }
  expect((await build({ number: 2 }))?.sizeBytes).toBe(1023);
});

test('uses another tag for a moved base image at the next build, and keeps that of a running build', async () => {
  const { build, references, push, end, digests, job, secrets } = world();
  await build();
  const before = references('build-1');
  digests.set(node, 'sha256:2');
  end('build-1', 'Complete');
  push(...before);
  expect(await build()).toBeDefined();
  expect(recordedDigests(job('build-1')?.metadata.annotations?.[RECORD_ANNOTATION])?.get(node)).toBe('sha256:1');

  expect(await build({ number: 2 })).toBeUndefined();
  expect(references('build-2')).toEqual([expect.stringMatching(/^g\/r\/web:/)]);
  expect(before).not.toContain(references('build-2')[0]);
  expect(secrets['build-credentials']?.['source-policy.json']).toContain(`${node}@sha256:2`);
});

test('builds everything again without cache, under tags of its own', async () => {
  const { build, references, push } = world();
  await build();
  const first = references('build-1');
  push(...first);
  await build({ number: 2, noCache: true, buildId: 'uid/2' });
  expect(references('build-2')).toHaveLength(2);
  expect(references('build-2').filter((reference) => first.includes(reference))).toEqual([]);
});

test('finds and replaces no images of a former Repository of the same name', async () => {
  const { build, references, push } = world();
  await build();
  const first = references('build-1');
  push(...first);
  expect(await build({ number: 2, repositoryUid: 'r2' })).toBeUndefined();
  expect(references('build-2')).toHaveLength(2);
  expect(references('build-2').filter((reference) => first.includes(reference))).toEqual([]);
});

test('uses a folder and a cache of its own for untrusted code', async () => {
  const { build, references, job } = world();
  await build({ trusted: false });
  expect(references('build-1')[0]).toMatch(/^g\/r\/untrusted\/web:/);
  expect(JSON.stringify(job('build-1'))).toContain('BUILDKIT_CACHE_MOUNT_NS=g/r/untrusted/uid/1');
});

test('continues a build of a fork that an older version named without its environment', async () => {
  const { build, references, job, push, end } = world();
  await build({ trusted: false });
  const older = references('build-1').map((reference) => reference.replace(/-[^-:]+$/, ''));
  const annotations = job('build-1')?.metadata.annotations ?? {};
  const record = JSON.parse(annotations[RECORD_ANNOTATION] ?? '{}') as { references: Record<string, string> };
  record.references = Object.fromEntries(
    Object.entries(record.references).map(([service, reference]) => [service, reference.replace(/-[^-:]+$/, '')]),
  );
  annotations[RECORD_ANNOTATION] = JSON.stringify(record);
  push(...older);
  end('build-1', 'Complete');
  expect(await build({ trusted: false })).toBeDefined();
});

test('finds no images that another fork of the Repository built', async () => {
  const { build, references, push } = world();
  await build({ trusted: false });
  push(...references('build-1'));
  expect(await build({ number: 2, trusted: false, environment: { name: 'y', uid: 'other' } })).toBeUndefined();
  expect(references('build-2')).toHaveLength(2);
  expect(await build({ number: 3, trusted: false })).toBeDefined();
});

test('waits for a busy Git host as long as it asks', async () => {
  const { build, job } = world();
  const locate = () => Promise.reject(new HostBusyError('come back later', 900_000));
  await expect(build({ locate })).rejects.toMatchObject({ reason: 'HostBusy', afterMs: 900_000 });
  expect(job('build-1')).toBeUndefined();
});

describe('a failed attempt', () => {
  test('is repeated after an infrastructure failure, after a pause, at most twice, for missing images only', async () => {
    const { build, references, push, end, job, lines } = world();
    await build();
    push(references('build-1')[1] ?? '');
    end('build-1', 'Failed', lost);
    await expect(build({}, 1000)).rejects.toMatchObject({ reason: 'Retrying' });
    expect(await build({}, 6000)).toBeUndefined();
    expect(references('build-1-retry-1')).toEqual([references('build-1')[0]]);
    expect(lines).toEqual(
      expect.arrayContaining([expect.stringMatching(/attempt 1 failed because of the infrastructure/)]),
    );

    end('build-1-retry-1', 'Failed', lost);
    expect(await build({}, 60_000)).toBeUndefined();
    end('build-1-retry-2', 'Failed', lost);
    await expect(build({}, 120_000)).rejects.toThrow(/after 3 attempts/);
    expect(job('build-1-retry-3')).toBeUndefined();
  });

  test('is repeated after a lack of disk space once buildkitd has freed some', async () => {
    const { build, end, jobs } = world();
    await build();
    end('build-1', 'Failed', 'error: failed to solve: ResourceExhausted: write /x.db: no space left on device');
    await expect(build({}, 60_000)).rejects.toMatchObject({ reason: 'Retrying', afterMs: 10_000 });
    expect(await build({}, 70_000)).toBeUndefined();
    expect(jobs.size).toBe(2);
  });

  test("is not repeated if the repository's own steps failed", async () => {
    const { build, end, jobs } = world();
    await build();
    end('build-1', 'Failed', 'error: failed to solve: process "x" did not complete successfully: exit code: 1');
    await expect(build({}, 60_000)).rejects.toThrow(/the build of service web failed \(exit code 1\)/);
    expect(jobs.size).toBe(1);
  });
});

test('reports a missing registry Secret even if no image is built', async () => {
  const { build, lines } = world();
  expect(
    await build({ images: [], registrySecrets: [{ name: 'gone', namer: { kind: 'Group', uid: 'g1' } }] }),
  ).toMatchObject({ images: [] });
  expect(lines).toEqual(['the registry Secret gone is not in group-g. Create it']);
});

describe('deletes credentials', () => {
  const credentials = ['build-credentials', 'build-source'];

  test('with the Jobs of finished builds, also after an interruption', async () => {
    const { build, job, refuse, cleanUp, deleted } = world();
    await build();
    expect(job('build-1')?.metadata.labels?.[LABELS.build]).toBe('1');
    await cleanUp(1);
    expect(deleted).toEqual([]);

    refuse.delete = (kind) => (kind === 'Secret' ? new Error('killed') : undefined);
    await expect(cleanUp()).rejects.toThrow('killed');
    refuse.delete = (kind) => (kind === 'Job' ? new Error('killed') : undefined);
    await expect(cleanUp()).rejects.toThrow('killed');
    delete refuse.delete;
    await cleanUp();
    expect(deleted).toEqual([...credentials, ...credentials, 'build-1']);
  });

  test('when the Job is refused', async () => {
    const { build, refuse, deleted } = world();
    const quota =
      'jobs "build-1" is forbidden: exceeded quota: environment, requested: jobs=1, used: jobs=9, limited: jobs=9';
    refuse.create = new ApiError('POST /jobs', 403, 'Forbidden', quota, { name: 'build-1' });
    await expect(build()).rejects.toMatchObject({
      reason: 'QuotaExceeded',
      message: expect.stringContaining("the environment's quota is used up (requested jobs=1, of jobs=9)"),
    });
    expect(deleted).toEqual(credentials);
  });

  test.each([
    ['no answer', new UnreachableError('no answer')],
    ['a response that was too late', new ApiError('POST /jobs', 504, 'Timeout', 'no answer')],
  ])('not after %s, because the Job may exist', async (_what, error) => {
    const { build, refuse, deleted } = world();
    refuse.create = error;
    await expect(build()).rejects.toBe(error);
    expect(deleted).toEqual([]);
  });
});

describe('a Job whose pod is not created', () => {
  const note =
    'Error creating: pods "build-1-x" is forbidden: exceeded quota: environment, requested: limits.cpu=4, ' +
    'used: limits.cpu=7, limited: limits.cpu=8';
  const regarding = { kind: 'Job', name: 'build-1' };
  const words =
    "the build's pod cannot be created: the environment's quota is used up (requested limits.cpu=4, of limits.cpu=8)";

  test('is requeued, reports the refusal, and fails if the quota has no capacity left', async () => {
    const { build, events, lines, checks } = world();
    await build();
    events.push({ regarding, note });
    expect(await build({}, 1000)).toBeUndefined();
    expect([checks, lines]).toEqual([[10_000], []]);
    expect(await build({}, 11_000)).toBeUndefined();
    expect(lines).toEqual([expect.stringContaining(words)]);
    await expect(build({}, 61_000)).rejects.toMatchObject({
      reason: 'QuotaExceeded',
      message: expect.stringContaining(words),
    });
  });

  test.each([
    ['no event', []],
    ['events of another Job', [{ regarding: { ...regarding, name: 'build-2' }, note }]],
    ['events of an earlier Job of the same name', [{ regarding: { ...regarding, uid: 'earlier' }, note }]],
    ['a temporary error', [{ regarding, note: 'Error creating: Internal error occurred: failed calling webhook' }]],
  ])('keeps waiting after %s', async (_what, reported) => {
    const { build, events } = world();
    await build();
    events.push(...reported);
    expect(await build({}, 61_000)).toBeUndefined();
  });
});
