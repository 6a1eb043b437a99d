import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Environment, EnvironmentStatus } from '../../../crds/environment.ts';
import { ApiError } from '../../../kubernetes/api-error.ts';
import type { Job, PersistentVolumeClaim, Pod } from '../../../kubernetes/resource-type.ts';
import { SizesReconciler } from './reconciler.ts';

const namespace = 'env-shop-main--acme';
const endedAt = '2026-01-01T00:00:00.000Z';

let now: number;
let environment: Environment | undefined;
let claims: PersistentVolumeClaim[];
let jobs: Job[];
let pods: Pod[];
let written: EnvironmentStatus['volumes'][];
let refusal: Error | undefined;
let reconciler: SizesReconciler;

const claim = (name: string, more: object = {}): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace, labels: { 'coppice.dev/environment-uid': 'u1' } },
  status: { phase: 'Bound' },
  ...more,
});

function deployed(number: number, more: object = {}): Environment {
  return {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Environment',
    metadata: { name: 'shop-main', namespace: 'group-acme', uid: 'u1' },
    spec: { repository: 'shop', gitRef: { name: 'main', type: 'branch' }, active: true, buildOnCreate: true },
    status: { deployed: { number, result: 'succeeded', startedAt: endedAt }, ...more },
  };
}

beforeEach(() => {
  now = Date.parse(endedAt);
  environment = deployed(1);
  claims = [claim('volume-data'), claim('volume-cache')];
  jobs = [];
  pods = [];
  written = [];
  refusal = undefined;
  reconciler = new SizesReconciler({
    client: {
      create: (_type: unknown, job: Job) => {
        if (refusal) return Promise.reject(refusal);
        jobs.push({ ...job, metadata: { ...job.metadata, uid: job.metadata.name } });
        return Promise.resolve(job);
      },
      delete: (_type: unknown, { name }: { name: string }) => {
        jobs = jobs.filter(({ metadata }) => metadata.name !== name);
        return Promise.resolve();
      },
    } as never,
    environments: { get: () => environment },
    jobs: { byIndex: () => jobs, observe: () => undefined },
    pods: { byIndex: () => pods },
    volumeClaims: { byIndex: () => claims },
    statuses: {
      write: (of, status) => {
        written.push(status?.volumes);
        environment = { ...of, status: { ...of.status, volumes: status?.volumes } };
        return Promise.resolve();
      },
    },
    image: 'coppice:1',
    now: () => new Date(now),
  });
});

/** Ends the newest Job with this termination message. */
function end(reported: string, type = 'Complete'): void {
  const job = jobs.at(-1);
  if (!job) throw new Error('there is no Job');
  job.status = { conditions: [{ type, status: 'True' }], completionTime: endedAt };
  const terminated = { exitCode: 0, message: reported };
  pods.push({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', labels: { 'batch.kubernetes.io/job-name': job.metadata.name } },
    status: {
      containerStatuses: [
        { name: 'measure', image: '', imageID: '', ready: false, restartCount: 0, state: { terminated } },
      ],
    },
  });
}

const mounted = () => jobs.map(({ spec }) => spec?.template.spec?.volumes?.[0]?.persistentVolumeClaim?.claimName);

describe('after a build is ready', () => {
  test('measures volumes one after the other, and reports their sizes once', async () => {
    await reconciler.reconcile('key');
    expect(mounted()).toEqual(['volume-cache']);
    await reconciler.reconcile('key');
    expect(mounted()).toEqual(['volume-cache']);
    end('4096\n');
    await reconciler.reconcile('key');
    expect(mounted()).toEqual(['volume-cache', 'volume-data']);
    end('1000000\n');
    await reconciler.reconcile('key');
    expect(written).toEqual([{ build: 1, usedBytes: 1_004_096 }]);
    expect(jobs).toEqual([]);
    await reconciler.reconcile('key');
    expect([written.length, jobs.length]).toEqual([1, 0]);
  });

  test('measures a newer build again, and removes the Job of the former one', async () => {
    claims = [claim('volume-data')];
    await reconciler.reconcile('key');
    environment = deployed(2);
    await reconciler.reconcile('key');
    expect(jobs.map(({ metadata }) => metadata.labels?.['coppice.dev/measured-build'])).toEqual(['2']);
  });

  test.each([
    ['failed', () => end('', 'Failed')],
    ['reported something else', () => end('du: no')],
  ])('reports no size and does not retry when a measurement %s', async (_what, happen) => {
    claims = [claim('volume-data')];
    await reconciler.reconcile('key');
    happen();
    now += 11_000;
    await reconciler.reconcile('key');
    expect(written).toEqual([{ build: 1, usedBytes: 0 }]);
  });

  test("waits for a pod's termination message", async () => {
    claims = [claim('volume-data')];
    await reconciler.reconcile('key');
    end('5');
    const reported = pods;
    pods = [];
    expect(await reconciler.reconcile('key')).toEqual({ requeueAfterMs: 10_000 });
    pods = reported;
    await reconciler.reconcile('key');
    expect(written).toEqual([{ build: 1, usedBytes: 5 }]);
  });

  test.each([
    ['volumes of another environment', [claim('volume-data', { metadata: { name: 'volume-data', labels: {} } })]],
    ['volumes that are not bound', [claim('volume-data', { status: { phase: 'Pending' } })]],
    ['copies in progress', [claim('copy-1')]],
    ['no volumes', []],
  ])('does nothing for %s', async (_what, held) => {
    claims = held;
    await reconciler.reconcile('key');
    expect([jobs, written]).toEqual([[], []]);
  });

  test('ignores contents that are removed at the same time', async () => {
    refusal = new ApiError('POST', 403, 'Forbidden', 'the namespace is being terminated');
    await expect(reconciler.reconcile('key')).resolves.toEqual({});
  });
});

test('removes the size with the contents', async () => {
  environment = deployed(1, { deployed: undefined, volumes: { build: 1, usedBytes: 5 } });
  await reconciler.reconcile('key');
  expect(written).toEqual([undefined]);
});
