import { isDeepStrictEqual } from 'node:util';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import type { Controller } from '../../kubernetes/controller.ts';
import { keyOf } from '../../kubernetes/resource-type.ts';
import type { OperatorCaches } from './caches.ts';
import { refIndexValue } from '../shared/environment-keys.ts';
import { feedbackPart } from '../kinds/environment/status/status-parts.ts';
import type { OperatorContext } from './context.ts';
import { StatusWriter } from '../shared/status-writer.ts';
import { dueFeedback } from '../reports/feedback/due.ts';
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
 * Requeues an Environment when something new is to be reported, also because another environment of the pull request
 * was changed or deleted, and after a refusal when its Repository changes.
 */
export function watchForFeedback(
  { environments, repositories }: Pick<OperatorCaches, 'environments' | 'repositories'>,
  apiUrl: URL,
  feedback: Pick<Controller, 'enqueue'>,
): void {
  environments.addHandler((type, environment, old) => {
    const others = othersOfPullRequest(environment);
    const now = type === 'deleted' ? others : [...others, environment];
    const before = old ? [...others, old] : [];
    for (const one of now) {
      const due = dueFeedback(one, now, apiUrl);
      const same = before.find(({ metadata }) => metadata.name === one.metadata.name);
      if (due.length === 0 || (same && isDeepStrictEqual(due, dueFeedback(same, before, apiUrl)))) continue;
      feedback.enqueue(keyOf(one));
    }
  });
  repositories.addHandler((type, repository, old) => {
    if (type === 'deleted' || isSameRevision(repository, old) || !takesFeedback(repository)) return;
    for (const environment of environments.byIndex('repository', keyOf(repository))) {
      const ofRef = [...othersOfPullRequest(environment), environment];
      if (dueFeedback(environment, ofRef, apiUrl).length > 0) feedback.enqueue(keyOf(environment));
    }
  });

  /**
   * Returns the other environments of a pull request, with which it shares a comment; feedback on other refs is
   * separate for each environment.
   */
  function othersOfPullRequest(environment: Environment): Environment[] {
    if (environment.spec.gitRef.type !== 'pull request') return [];
    const all = environments.byIndex('ref', refIndexValue(environment));
    return all.filter(({ metadata }) => metadata.name !== environment.metadata.name);
  }
}
