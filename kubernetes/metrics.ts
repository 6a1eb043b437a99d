import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { ControllerMetrics } from './controller.ts';
import type { EventRecorderMetrics } from './event-recorder.ts';
import type { RequestObserver } from './http-transport.ts';
import type { InformerMetrics } from './informer.ts';

/** Some of controller-runtime's buckets for the seconds of a reconcile. */
const reconcileBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** client-go's buckets for the seconds of the queue, 10 ns × 10ⁿ, from the clock's resolution on. */
const queueBuckets = [0.001, 0.01, 0.1, 1, 10, 100, 1000];

type QueueLabels = Record<'name' | 'controller', string>;

/**
 * Metrics of the runtime in one registry, with the names of controller-runtime and client-go, so that their dashboards
 * and alerts can be used.
 */
export class RuntimeMetrics {
  readonly registry: Registry;
  readonly #reconciles: Counter;
  readonly #errors: Counter;
  readonly #terminalErrors: Counter;
  readonly #panics: Counter;
  readonly #seconds: Histogram;
  readonly #activeWorkers: Gauge;
  readonly #maxWorkers: Gauge;
  readonly #depth: Gauge;
  readonly #adds: Counter;
  readonly #retries: Counter;
  readonly #queueSeconds: Histogram;
  readonly #workSeconds: Histogram;
  readonly #underWork: { queue: QueueLabels; seconds: () => number[] }[] = [];
  readonly #requests: Counter;
  readonly #requestSeconds: Histogram;
  readonly #lists: Counter;
  readonly #watches: Counter;
  readonly #watchFailures: Counter;
  readonly #handlerErrors: Counter;
  readonly #leader: Gauge;
  readonly #events: Counter;

  constructor(registry: Registry = new Registry()) {
    this.registry = registry;
    const registers = [registry];
    const counter = (name: string, help: string, labelNames: string[]) =>
      new Counter({ name, help, labelNames, registers });
    const gauge = (name: string, help: string, labelNames: string[]) =>
      new Gauge({ name, help, labelNames, registers });
    const histogram = (name: string, help: string, labelNames: string[], buckets: number[]) =>
      new Histogram({ name, help, labelNames, buckets, registers });

    const prefix = 'controller_runtime';
    const byController = ['controller'];
    this.#reconciles = counter(`${prefix}_reconcile_total`, 'Reconciles, by result', ['controller', 'result']);
    this.#errors = counter(`${prefix}_reconcile_errors_total`, 'Reconciles that failed', byController);
    this.#terminalErrors = counter(
      `${prefix}_terminal_reconcile_errors_total`,
      'Reconciles that failed until a user acts',
      byController,
    );
    this.#panics = counter(`${prefix}_reconcile_panics_total`, 'Reconciles that hit a programming error', byController);
    this.#seconds = histogram(
      `${prefix}_reconcile_time_seconds`,
      'Length of a reconcile',
      byController,
      reconcileBuckets,
    );
    this.#activeWorkers = gauge(`${prefix}_active_workers`, 'Running reconciles', byController);
    this.#maxWorkers = gauge(`${prefix}_max_concurrent_reconciles`, 'Workers', byController);

    const byQueue = ['name', 'controller'];
    this.#depth = gauge('workqueue_depth', 'Keys waiting in the queue', byQueue);
    this.#adds = counter('workqueue_adds_total', 'Keys added', byQueue);
    this.#retries = counter('workqueue_retries_total', 'Keys requeued with backoff', byQueue);
    this.#queueSeconds = histogram(
      'workqueue_queue_duration_seconds',
      'Time that a key waited in the queue',
      byQueue,
      queueBuckets,
    );
    this.#workSeconds = histogram(
      'workqueue_work_duration_seconds',
      'Time that a key was processed',
      byQueue,
      queueBuckets,
    );

    const eachQueue = (set: (queue: QueueLabels, seconds: number[]) => void) => () => {
      for (const { queue, seconds } of this.#underWork) set(queue, seconds());
    };
    const unfinished: Gauge = new Gauge({
      name: 'workqueue_unfinished_work_seconds',
      help: 'Total processing time so far of all keys that are being processed',
      labelNames: byQueue,
      registers,
      collect: eachQueue((queue, seconds) =>
        unfinished.set(
          queue,
          seconds.reduce((sum, one) => sum + one, 0),
        ),
      ),
    });
    const runningProcessor: Gauge = new Gauge({
      name: 'workqueue_longest_running_processor_seconds',
      help: 'Processing time so far of the longest-running key',
      labelNames: byQueue,
      registers,
      collect: eachQueue((queue, seconds) => runningProcessor.set(queue, Math.max(0, ...seconds))),
    });

    this.#requests = counter('rest_client_requests_total', 'Requests to the API server', ['code', 'method']);
    this.#requestSeconds = histogram(
      'rest_client_request_duration_seconds',
      'Time from a request to the start of its response',
      ['method'],
      reconcileBuckets,
    );
    this.#lists = counter('reflector_lists_total', 'Full lists', ['name']);
    this.#watches = counter('reflector_watches_total', 'Watches started', ['name']);
    this.#watchFailures = counter('reflector_failures_total', 'Lists and watches that failed', ['name']);
    this.#handlerErrors = counter('informer_handler_errors_total', 'Exceptions thrown by event handlers', ['name']);
    this.#events = counter('recorded_events_total', 'Events about objects, by outcome', ['outcome']);
    this.#leader = gauge('leader_election_master_status', '1 while this process leads', ['name']);
  }

  forController(name: string): ControllerMetrics {
    const controller = { controller: name };
    const queue = { name, controller: name };
    this.#errors.inc(controller, 0);
    this.#terminalErrors.inc(controller, 0);
    this.#panics.inc(controller, 0);
    for (const result of ['success', 'error', 'requeue_after']) this.#reconciles.inc({ ...controller, result }, 0);
    return {
      queue: {
        depth: (length) => this.#depth.set(queue, length),
        added: () => this.#adds.inc(queue),
        retried: () => this.#retries.inc(queue),
        waited: (seconds) => this.#queueSeconds.observe(queue, seconds),
        worked: (seconds) => this.#workSeconds.observe(queue, seconds),
        underWork: (seconds) => this.#underWork.push({ queue, seconds }),
      },
      reconciled: (result, seconds) => {
        this.#reconciles.inc({ ...controller, result });
        this.#seconds.observe(controller, seconds);
        if (result === 'error') this.#errors.inc(controller);
      },
      stalled: () => this.#terminalErrors.inc(controller),
      panicked: () => this.#panics.inc(controller),
      workers: (active, max) => {
        this.#activeWorkers.set(controller, active);
        this.#maxWorkers.set(controller, max);
      },
    };
  }

  forInformer(name: string): InformerMetrics {
    return {
      listed: () => this.#lists.inc({ name }),
      watched: () => this.#watches.inc({ name }),
      failed: () => this.#watchFailures.inc({ name }),
      handlerFailed: () => this.#handlerErrors.inc({ name }),
    };
  }

  forEvents(): EventRecorderMetrics {
    for (const outcome of ['written', 'dropped', 'failed']) this.#events.inc({ outcome }, 0);
    return { recorded: (outcome) => this.#events.inc({ outcome }) };
  }

  /** Passed to ClusterClient as `observe`. */
  readonly observeRequest: RequestObserver = (method, code, seconds) => {
    this.#requests.inc({ method, code });
    this.#requestSeconds.observe({ method }, seconds);
  };

  /** Passed to LeaderElector as `onChange`. */
  setLeader(name: string, leads: boolean): void {
    this.#leader.set({ name }, leads ? 1 : 0);
  }
}
