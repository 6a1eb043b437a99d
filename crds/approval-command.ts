import { COMMIT_PATTERN } from './requests.ts';

const command = '/coppice approve';

/** Returns the text of a pull request's comment that approves a commit. */
export function approvalCommand(commit: string): string {
  return `${command} ${commit}`;
}

/**
 * Returns the commit that a comment approves; undefined for any other comment. The whole comment must be the command with
 * the whole commit ID, so that quoted text and a later push approve nothing.
 */
export function commandedCommit(comment: string): string | undefined {
  const text = comment.trim();
  if (!text.startsWith(`${command} `)) return undefined;
  const commit = text.slice(command.length + 1);
  return COMMIT_PATTERN.test(commit) ? commit : undefined;
}
