import { API_GROUP } from './api-group.ts';
import { requestValue } from './requests.ts';

/** What a delivery reports about a pull request, at a host that does not list them. */
export interface PullRequestEvent {
  number: number;
  isOpen: boolean;
}

/** An event recorded on a Repository. */
export interface NotedPullRequestEvent extends PullRequestEvent {
  /** The annotation that records it, removed when it has been handled, unless its value has changed. */
  annotation: string;
  value: string;
}

/** Maximum number of recorded pull requests; further ones are refused until the operator has handled some. */
export const MAX_NOTED_PULL_REQUESTS = 50;

const prefix = `${API_GROUP}/pull-request-`;

/** Returns the annotation of a Repository, with the value `<RFC 3339 time>/<id>/open` or `…/closed`. */
export function noteOf({ number, isOpen }: PullRequestEvent, now: Date, id: string): [name: string, value: string] {
  return [`${prefix}${number}`, `${requestValue(now, id)}/${isOpen ? 'open' : 'closed'}`];
}

/** Returns the recorded events by number; malformed annotations are ignored. */
export function notedPullRequests(annotations: Record<string, string> | undefined): NotedPullRequestEvent[] {
  return Object.entries(annotations ?? {})
    .flatMap(([annotation, value]) => {
      const number = annotation.startsWith(prefix) ? annotation.slice(prefix.length) : '';
      const state = /\/(open|closed)$/.exec(value)?.[1];
      if (!/^[1-9]\d{0,8}$/.test(number) || state === undefined) return [];
      return [{ number: Number(number), isOpen: state === 'open', annotation, value }];
    })
    .sort((a, b) => a.number - b.number);
}
