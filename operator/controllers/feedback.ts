import { isDeepStrictEqual } from 'node:util';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import type { Controller } from '../../kubernetes/controller.ts';
import { keyOf, objectKey } from '../../kubernetes/resource-type.ts';
import type { OperatorCaches } from './caches.ts';
import { refIndexValue } from '../shared/environment-keys.ts';
import { feedbackPart } from '../kinds/environment/status/status-parts.ts';
import type { OperatorContext } from './context.ts';
import { StatusWriter } from '../shared/status-writer.ts';
import { commentWriter, dueComment, dueStatuses } from '../reports/feedback/due.ts';
import { FeedbackReconciler, takesFeedback } from '../reports/feedback/reconciler.ts';
import { createController } from './controller.ts';
import { isSameRevision } from '../shared/watch-filters.ts';

/** Creates the controller that reports builds and tests to Git hosts. */
export function feedbackController(context: OperatorContext): Controller {
  const { client, caches, flows, hosts, config, now } = context;
  const { apiUrl } = config;
  const { environments, repositories } = caches;
  const statuses = new StatusWriter<Environment>(client, ENVIRONMENT, environments, feedbackPart);
  const reconciler = new FeedbackReconciler({ environments, repositories, hosts, statuses, apiUrl, now });
  const flowOf = (key: string) => flows.ofEnvironment(key);
  const controller = createController(context, { name: 'feedback', reconciler, workers: 4, flowOf });
  watchForFeedback(caches, apiUrl, controller);
  return controller;
}

/**
 * Requeues an Environment when something new is to be reported, and after a refusal when its Repository changes. The
 * comment on a pull request is checked once for all events of one pass of the event loop: any number of environments
 * can share it.
 */
export function watchForFeedback(
  { environments, repositories }: Pick<OperatorCaches, 'environments' | 'repositories'>,
  apiUrl: URL,
  feedback: Pick<Controller, 'enqueue'>,
): void {
  const comments = new CommentChecks({ environments, apiUrl, feedback });
  environments.addHandler((type, environment, old) => {
    const repository = repositories.get(objectKey(environment.metadata.namespace, environment.spec.repository));
    // The environments of a Repository that is not known yet are checked when it is.
    if (!repository || !takesFeedback(repository)) return;
    if (environment.spec.gitRef.type === 'pull request') comments.request(environment);
    if (type === 'deleted') return;
    const due = dueStatuses(environment, apiUrl);
    if (due.length === 0 || (old && isDeepStrictEqual(due, dueStatuses(old, apiUrl)))) return;
    feedback.enqueue(keyOf(environment));
  });
  repositories.addHandler((type, repository, old) => {
    if (type === 'deleted' || isSameRevision(repository, old) || !takesFeedback(repository)) return;
    for (const environment of environments.byIndex('repository', keyOf(repository))) {
      if (dueStatuses(environment, apiUrl).length > 0) feedback.enqueue(keyOf(environment));
      if (environment.spec.gitRef.type === 'pull request') comments.request(environment, { again: true });
    }
  });
}

interface CommentCheckOptions {
  environments: Pick<OperatorCaches['environments'], 'byIndex'>;
  apiUrl: URL;
  feedback: Pick<Controller, 'enqueue'>;
}

/** Requeues the environments that write comments on pull requests, whenever a comment is to change. */
class CommentChecks {
  readonly #options: CommentCheckOptions;
  /** Values of the index `ref`. */
  readonly #requested = new Set<string>();
  /** By value of the index `ref`: the writer that was requeued last, and what it had to write. */
  readonly #requeued = new Map<string, string>();

  constructor(options: CommentCheckOptions) {
    this.#options = options;
  }

  /** Requests a check of the environment's pull request. `again`: also for a comment that was requeued before. */
  request(environment: Environment, { again = false } = {}): void {
    const ref = refIndexValue(environment);
    if (again) this.#requeued.delete(ref);
    if (this.#requested.size === 0) setImmediate(() => this.#check());
    this.#requested.add(ref);
  }

  #check(): void {
    const { environments, apiUrl, feedback } = this.#options;
    const refs = [...this.#requested];
    this.#requested.clear();
    for (const ref of refs) {
      const ofRef = environments.byIndex('ref', ref);
      const writer = commentWriter(ofRef);
      const [due] = writer ? dueComment(writer, ofRef, apiUrl) : [];
      const wanted = writer && due && `${keyOf(writer)} ${due.hash}`;
      if (wanted === undefined) this.#requeued.delete(ref);
      if (!writer || wanted === undefined || this.#requeued.get(ref) === wanted) continue;
      this.#requeued.set(ref, wanted);
      feedback.enqueue(keyOf(writer));
    }
  }
}
