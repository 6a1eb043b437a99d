import { API_GROUP } from './api-group.ts';
import { requestValue } from './requests.ts';

/** A comment on a pull request that may approve a commit, as a delivery names it. The operator reads it at the Git host. */
export interface ApprovalComment {
  pullRequest: number;
  /** IDs at the host, in digits. */
  comment: string;
  author: string;
}

/** A comment recorded on a Repository. */
export interface NotedApprovalComment extends ApprovalComment {
  /** The annotation that records it, removed when it has been handled. */
  annotation: string;
}

/** Maximum number of recorded comments; further ones are refused until the operator has handled some. */
export const MAX_NOTED_COMMENTS = 20;

const prefix = `${API_GROUP}/approval-comment-`;

/** Pattern of IDs of comments and users at hosts that report who can write. */
export const HOST_ID_PATTERN = /^[1-9]\d{0,18}$/;

/**
 * Returns the annotation of a Repository that records a comment. Each author has one for each pull request, which a later
 * comment replaces, so that strangers displace no comment of others.
 */
export function commentNote(
  { pullRequest, comment, author }: ApprovalComment,
  now: Date,
  id: string,
): [annotation: string, value: string] {
  return [`${prefix}${pullRequest}-${author}`, `${requestValue(now, id)}/${comment}`];
}

/** Returns the recorded comments; malformed annotations are ignored. */
export function notedComments(annotations: Record<string, string> | undefined): NotedApprovalComment[] {
  return Object.entries(annotations ?? {}).flatMap(([annotation, value]) => {
    if (!annotation.startsWith(prefix)) return [];
    const [, number = '', author = ''] = /^([1-9]\d{0,8})-(\d+)$/.exec(annotation.slice(prefix.length)) ?? [];
    const comment = value.split('/')[2] ?? '';
    if (![author, comment].every((one) => HOST_ID_PATTERN.test(one))) return [];
    return [{ pullRequest: Number(number), author, comment, annotation }];
  });
}
