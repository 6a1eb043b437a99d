import { randomUUID } from 'node:crypto';
import { ApiError, byId, pullRequestOf } from './api.ts';
import type { ApiCall } from './api.ts';
import type { Comment, Hook, HostedRepository, Status } from './repositories.ts';

/** Stores a status of the call's commit; throws 404 or 422 if the host does not have the commit. */
export async function addStatus(
  { repository, repositories, params, hasCommit }: ApiCall,
  given: Pick<Status, 'state' | 'context' | 'key' | 'description' | 'targetUrl'>,
): Promise<Status> {
  const commit = params['commit'] ?? '';
  if (!(await hasCommit(commit))) throw new ApiError(422, `No commit found for SHA: ${commit}`);
  const status = { id: repositories.nextId(), commit, createdAt: new Date().toISOString(), ...given };
  repository.statuses.push(status);
  return status;
}

export function addComment(
  { repository, repositories }: Pick<ApiCall, 'repository' | 'repositories'>,
  pullRequest: number,
  body: string,
  author = 'token',
): Comment {
  const createdAt = new Date().toISOString();
  const comment = { id: repositories.nextId(), pullRequest, body, author, createdAt, updatedAt: createdAt };
  repository.comments.push(comment);
  return comment;
}

/** Returns the comments of the call's pull request. */
export function commentsOf(call: ApiCall): Comment[] {
  const { number } = pullRequestOf(call);
  return call.repository.comments.filter(({ pullRequest }) => pullRequest === number);
}

/** Changes the call's comment. */
export function editComment({ repository, params }: ApiCall, body: string): Comment {
  return Object.assign(byId(repository.comments, params['id']), { body, updatedAt: new Date().toISOString() });
}

export function addHook(
  { repository, repositories }: Pick<ApiCall, 'repository' | 'repositories'>,
  settings: Pick<Hook, 'url' | 'secret' | 'events'> & Partial<Pick<Hook, 'inputs'>>,
): Hook {
  const createdAt = new Date().toISOString();
  const hook = { id: repositories.nextId(), uuid: randomUUID(), inputs: {}, createdAt, ...settings };
  repository.hooks.push(hook);
  return hook;
}

export function removeHook(repository: HostedRepository, hook: Hook): void {
  repository.hooks.splice(repository.hooks.indexOf(hook), 1);
}
