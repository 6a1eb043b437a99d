import { z } from 'zod';
import { API_GROUP } from './api-group.ts';
import { requestValue } from './requests.ts';

/** What a delivery reports about a pull request, at a host that does not list them. */
export interface PullRequestEvent {
  number: number;
  isOpen: boolean;
  /** What the delivery reports for rules; absent if nothing, or for a closed one. */
  facts?: PullRequestEventFacts;
}

const branchSchema = z.string().max(255).optional();
/** Bounded, because it is stored in an annotation; what a longer list contains counts as not reported. */
export const pullRequestEventFactsSchema = z.object({
  labels: z.array(z.string().max(255)).max(20).optional().catch(undefined),
  targetBranch: branchSchema.catch(undefined),
  sourceBranch: branchSchema.catch(undefined),
  isDraft: z.boolean().optional().catch(undefined),
});
export type PullRequestEventFacts = z.infer<typeof pullRequestEventFactsSchema>;

/** An event recorded on a Repository. */
export interface NotedPullRequestEvent extends PullRequestEvent {
  /** The annotation that records it, removed when it has been handled, unless its value has changed. */
  annotation: string;
  value: string;
}

/** Maximum number of recorded pull requests; further ones are refused until the operator has handled some. */
export const MAX_NOTED_PULL_REQUESTS = 50;

const prefix = `${API_GROUP}/pull-request-`;

/**
 * Returns the annotation of a Repository, with the value `<RFC 3339 time>/<id>/open`, which JSON of the facts may follow,
 * or `…/closed`.
 */
export function noteOf(event: PullRequestEvent, now: Date, id: string): [name: string, value: string] {
  const { number, isOpen, facts } = event;
  const rest = isOpen && facts ? ` ${JSON.stringify(facts)}` : '';
  return [`${prefix}${number}`, `${requestValue(now, id)}/${isOpen ? 'open' : 'closed'}${rest}`];
}

/** Returns the recorded events by number; malformed annotations are ignored. */
export function notedPullRequests(annotations: Record<string, string> | undefined): NotedPullRequestEvent[] {
  return Object.entries(annotations ?? {})
    .flatMap(([annotation, value]) => {
      const number = annotation.startsWith(prefix) ? annotation.slice(prefix.length) : '';
      const [, state, json] = /\/(open|closed)(?: (\{.*\}))?$/s.exec(value) ?? [];
      if (!/^[1-9]\d{0,8}$/.test(number) || state === undefined) return [];
      const facts = json === undefined ? undefined : factsOf(json);
      return [{ number: Number(number), isOpen: state === 'open', ...(facts && { facts }), annotation, value }];
    })
    .sort((a, b) => a.number - b.number);
}

function factsOf(json: string): PullRequestEventFacts | undefined {
  try {
    return pullRequestEventFactsSchema.safeParse(JSON.parse(json)).data;
  } catch {
    // Anybody who can write the Repository can write the annotation.
    return undefined;
  }
}
