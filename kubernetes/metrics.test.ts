import { expect, test } from '@jest/globals';
import { Controller } from './controller.ts';
import { StallingError } from './controller-errors.ts';
import { RuntimeMetrics } from './metrics.ts';
import { FakeClock } from './testing/fake-clock.ts';
import { silentLogger } from './testing/silent-logger.ts';

test('reports a controller under the names of controller-runtime and client-go', async () => {
  const metrics = new RuntimeMetrics();
  const clock = new FakeClock();
  const controller = new Controller({
    name: 'environment',
    reconcile: (key) => {
      if (key === 'stalls') return Promise.reject(new StallingError('fix it'));
      if (key === 'fails') return Promise.reject(new Error('again'));
      return Promise.resolve(key === 'waits' ? { requeueAfterMs: 1e9 } : undefined);
    },
    logger: silentLogger,
    clock,
    metrics: metrics.forController('environment'),
  });
  await controller.start();
  for (const key of ['fine', 'waits', 'stalls', 'fails']) controller.enqueue(key);
  await clock.advance(6);
  await controller.stop();
  const text = await metrics.registry.metrics();
  for (const line of [
    'controller_runtime_reconcile_total{controller="environment",result="success"} 1',
    'controller_runtime_reconcile_total{controller="environment",result="requeue_after"} 1',
    'controller_runtime_reconcile_total{controller="environment",result="error"} 3',
    'controller_runtime_reconcile_errors_total{controller="environment"} 3',
    'controller_runtime_terminal_reconcile_errors_total{controller="environment"} 1',
    'controller_runtime_reconcile_panics_total{controller="environment"} 0',
    'controller_runtime_reconcile_time_seconds_count{controller="environment"} 5',
    'controller_runtime_active_workers{controller="environment"} 0',
    'controller_runtime_max_concurrent_reconciles{controller="environment"} 1',
    'workqueue_depth{name="environment",controller="environment"} 0',
    'workqueue_adds_total{name="environment",controller="environment"} 5',
    'workqueue_retries_total{name="environment",controller="environment"} 2',
    'workqueue_queue_duration_seconds_count{name="environment",controller="environment"} 5',
    'workqueue_work_duration_seconds_count{name="environment",controller="environment"} 5',
  ]) {
    expect(text.split('\n')).toContain(line);
  }
});

test('reports requests, informers and leadership', async () => {
  const metrics = new RuntimeMetrics();
  metrics.observeRequest('GET', '200', 0.01);
  const informer = metrics.forInformer('Pod');
  informer.listed();
  informer.watched();
  informer.failed();
  informer.handlerFailed();
  metrics.setLeader('operator', true);
  const text = (await metrics.registry.metrics()).split('\n');
  for (const line of [
    'rest_client_requests_total{method="GET",code="200"} 1',
    'rest_client_request_duration_seconds_count{method="GET"} 1',
    'reflector_lists_total{name="Pod"} 1',
    'reflector_watches_total{name="Pod"} 1',
    'reflector_failures_total{name="Pod"} 1',
    'informer_handler_errors_total{name="Pod"} 1',
    'leader_election_master_status{name="operator"} 1',
  ]) {
    expect(text).toContain(line);
  }
});
