import { expect, test } from '@jest/globals';
import { LABELS } from '../../../crds/labels.ts';
import type { Job } from '../../../kubernetes/resource-type.ts';
import { groupFlows } from '../../source/hosts/testing/group-flows.ts';
import { createBuildQueues } from './build-limits.ts';

function queuesOver(concurrency: { total: number; perGroup: number; perAccount: number }) {
  const jobs: Job[] = [];
  const woken: string[] = [];
  let report: (type: 'added' | 'updated' | 'deleted', job: Job) => void = () => undefined;
  const cache = {
    list: () => jobs,
    addHandler: (handler: typeof report) => {
      report = handler;
      return () => true;
    },
  };
  const queues = createBuildQueues(
    cache,
    { concurrency, ephemeral: { maxConcurrent: 1 } },
    groupFlows,
    (key) => void woken.push(key),
    () => new Date(0),
  );
  return { jobs, woken, queues, report: (type: 'updated', job: Job) => report(type, job) };
}

const job = (labels: Record<string, string>) => ({ metadata: { name: 'job', labels } }) as Job;
const buildJob = (uid: string, group: string) =>
  job({ [LABELS.build]: '1', [LABELS.environmentUid]: uid, [LABELS.group]: group });

test('counts the Jobs of running builds, and frees a slot when one ends', () => {
  const { jobs, woken, queues, report } = queuesOver({ total: 1, perGroup: 1, perAccount: 1 });
  const build = buildJob('u1', 'a');
  jobs.push(job({ [LABELS.service]: 'migrate' }), build);

  // A build of untrusted code is running too, which has slots of its own.
  expect(queues.of(false).positionOf({ id: 'u3/1', group: 'a', environmentKey: 'env-3' })).toBeUndefined();
  expect(queues.of(true).positionOf({ id: 'u2/1', group: 'b', environmentKey: 'env-2' })).toEqual({
    position: 1,
    of: 1,
  });
  report('updated', build);
  expect(woken).toEqual([]);
  build.status = { conditions: [{ type: 'Complete', status: 'True' }] };
  report('updated', build);
  expect(woken).toEqual(['env-2']);
  expect(queues.of(true).positionOf({ id: 'u2/1', group: 'b', environmentKey: 'env-2' })).toBeUndefined();
});

test('limits a group to its own slots, so that another group is next', () => {
  const { jobs, queues } = queuesOver({ total: 2, perGroup: 1, perAccount: 2 });
  jobs.push(buildJob('u1', 'a'));
  const queue = queues.of(true);
  expect(queue.positionOf({ id: 'u2/1', group: 'a', environmentKey: 'env-2' })).toEqual({ position: 1, of: 1 });
  expect(queue.positionOf({ id: 'u3/1', group: 'b', environmentKey: 'env-3' })).toBeUndefined();
});
