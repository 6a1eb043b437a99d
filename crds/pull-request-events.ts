import { API_GROUP } from './api-group.ts';
import { requestValue } from './requests.ts';

/** What a delivery told of a pull request at a host that has no list of them. */
export interface PullRequestEvent {
  number: number;
  isOpen: boolean;
}

/** One that is written down on a Repository. */
export interface NotedPullRequestEvent extends PullRequestEvent {
  /** The annotation that it stands in, to be taken away when it was seen to, unless its value is another one by then. */
  annotation: string;
  value: string;
}

/** So many pull requests may be noted at once; what comes beyond is refused until the operator has seen to some. */
export const MOST_NOTED_PULL_REQUESTS = 50;

const prefix = `${API_GROUP}/pull-request-`;

/** The annotation on a Repository, and its value `<RFC 3339 time>/<id>/open` or `…/closed`. */
export function noteOf({ number, isOpen }: PullRequestEvent, now: Date, id: string): [name: string, value: string] {
  return [`${prefix}${number}`, `${requestValue(now, id)}/${isOpen ? 'open' : 'closed'}`];
}

/** The events that are noted, by number; annotations that say nothing are left out. */
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
