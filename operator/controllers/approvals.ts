import type { Controller } from '../../kubernetes/controller.ts';
import { keyOf } from '../../kubernetes/resource-type.ts';
import { CommentApprovals, hasNewComments } from '../kinds/repository/comment-approvals.ts';
import type { OperatorContext } from './context.ts';
import { createController } from './controller.ts';

/** Creates the controller that reads comments which may approve commits of forks. */
export function approvalController(context: OperatorContext): Controller {
  const { client, caches, flows, hosts, logger, now } = context;
  const { repositories, environments } = caches;
  const reconciler = new CommentApprovals({ client, repositories, environments, hosts, logger, now });
  const flowOf = (key: string) => flows.ofRepository(key);
  const controller = createController(context, { name: 'approvals', reconciler, workers: 2, flowOf });
  repositories.addHandler((type, repository, old) => {
    if (type !== 'deleted' && hasNewComments(repository, old)) controller.enqueue(keyOf(repository));
  });
  return controller;
}
