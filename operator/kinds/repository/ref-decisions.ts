import { setImmediate as otherWork } from 'node:timers/promises';
import { gitRefKey, type GitRef } from '../../../crds/git-ref.ts';
import type { PullRequestEvent } from '../../../crds/pull-request-events.ts';
import type { Repository } from '../../../crds/repository.ts';
import { RuleDecisions, type RefFacts, type RuleDecision } from '../../../crds/rule-decision.ts';
import type { SyncRule } from '../../../crds/sync-rules.ts';
import type { RefListing } from './ref-listing.ts';

type SyncStatus = NonNullable<NonNullable<Repository['status']>['sync']>;

/** What a Repository's rules decide for the refs of a list. */
export interface RefDecisions {
  of: (ref: GitRef) => RuleDecision;
  /** Status fields that report what the rules match; empty without rules. */
  report: Pick<SyncStatus, 'rules' | 'unmatched'>;
}

/** How long refs are decided on before other work continues, in milliseconds. */
const atOnceMs = 5;
const maxExamples = 3;
const maxShownLength = 60;
const maxWhyLength = 300;

/** Longer names cannot be used for an environment. */
const maxName = 200;

const byDefault: RuleDecision = { rule: undefined, environment: 'empty', ttlSeconds: undefined };
const unmatched: RuleDecision = { ...byDefault, environment: 'none' };

/** The decisions without rules. */
export const NO_RULES: RefDecisions = { of: () => byDefault, report: {} };

/** Returns the refs that can get an environment, with what the host reports about them. */
export function listedRefs(listing: RefListing, events: readonly PullRequestEvent[]): RefFacts[] {
  const opened = new Map(
    (listing.pullRequestsError ? [] : events)
      .filter(({ isOpen }) => isOpen)
      .map(({ number, facts }) => [number, { ...facts, author: listing.authors?.get(number) }]),
  );
  const factsOf = (number: number) => (listing.openPullRequests ? listing.pullRequestFacts : opened)?.get(number);
  return [
    ...[...listing.branches.keys()].map((name): RefFacts => ({ type: 'branch', name })),
    ...[...(listing.openPullRequests ?? opened.keys())].map((number): RefFacts => ({
      ...factsOf(number),
      type: 'pull request',
      name: `${number}`,
    })),
    ...[...listing.tags.keys()]
      .filter((name) => name.length <= maxName)
      .map((name): RefFacts => ({ type: 'tag', name })),
  ];
}

/**
 * Decides on every ref, and pauses for other work in between: users write the rules, and strangers name the refs, of
 * which there can be 100,000.
 */
export async function decideRefs(
  rules: readonly SyncRule[] | undefined,
  refs: readonly RefFacts[],
): Promise<RefDecisions> {
  if (!rules) return NO_RULES;
  const decisions = new RuleDecisions(rules);
  const matched = new Map<string, RuleDecision>();
  const byRule: RefFacts[][] = rules.map(() => []);
  const others: RefFacts[] = [];
  let since = performance.now();
  for (const ref of refs) {
    if (performance.now() - since > atOnceMs) {
      await otherWork();
      since = performance.now();
    }
    const decision = ref.name.length > maxName ? unmatched : decisions.decide(ref);
    if (decision.rule === undefined) others.push(ref);
    else {
      matched.set(gitRefKey(ref), decision);
      byRule[decision.rule]?.push(ref);
    }
  }
  return {
    of: (ref) => matched.get(gitRefKey(ref)) ?? unmatched,
    report: {
      rules: byRule.map((found) => ({
        matched: found.length,
        examples: found.slice(0, maxExamples).map(({ name }) => shortened(name, maxShownLength)),
      })),
      unmatched: {
        count: others.length,
        examples: ofEachType(others).map((ref) => ({
          ref: `${ref.type} ${shortened(ref.name, maxShownLength)}`,
          why: ref.name.length > maxName ? 'the name is too long' : shortened(decisions.explain(ref), maxWhyLength),
        })),
      },
    },
  };
}

/** Returns examples of each type, because a repository can have many branches before its pull requests. */
function ofEachType(refs: readonly RefFacts[]): RefFacts[] {
  const byType = [...Map.groupBy(refs, ({ type }) => type).values()];
  const rounds = Array.from({ length: maxExamples }, (_, index) => byType.flatMap((found) => found[index] ?? []));
  return rounds.flat().slice(0, maxExamples);
}

function shortened(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length).toWellFormed()}…` : text;
}
