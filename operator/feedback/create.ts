import { isDeepStrictEqual } from 'node:util';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import type { Controller } from '../../kubernetes/controller.ts';
import { keyOf } from '../../kubernetes/resource-type.ts';
import { refIndexValue, type OperatorCaches } from '../caches.ts';
import { feedbackPart } from '../environment/status-parts.ts';
import type { OperatorParts } from '../parts.ts';
import { isSameVersion } from '../routing.ts';
import { StatusWriter } from '../status-writer.ts';
import { dueFeedback } from './due.ts';
import { FeedbackReconciler, takesFeedback } from './reconciler.ts';

/** Puts what tells the Git hosts together. */
export function createFeedbackReconciler({ client, caches, hosts, config, now }: OperatorParts): FeedbackReconciler {
  const { environments, repositories } = caches;
  const statuses = new StatusWriter<Environment>(client, ENVIRONMENT, environments, feedbackPart);
  return new FeedbackReconciler({ environments, repositories, hosts, statuses, apiUrl: config.apiUrl, now });
}

/**
 * Looked at is what has something new to tell, also because another environment of the pull request changed or went, and
 * what was refused once its Repository changes.
 */
export function routeFeedback(
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
    if (type === 'deleted' || isSameVersion(repository, old) || !takesFeedback(repository)) return;
    for (const environment of environments.byIndex('repository', keyOf(repository))) {
      const ofRef = [...othersOfPullRequest(environment), environment];
      if (dueFeedback(environment, ofRef, apiUrl).length > 0) feedback.enqueue(keyOf(environment));
    }
  });

  /** They share its comment; what is told of other refs is each environment's own. */
  function othersOfPullRequest(environment: Environment): Environment[] {
    if (environment.spec.gitRef.type !== 'pull request') return [];
    const all = environments.byIndex('ref', refIndexValue(environment));
    return all.filter(({ metadata }) => metadata.name !== environment.metadata.name);
  }
}
