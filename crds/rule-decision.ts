import type { GitRef } from './git-ref.ts';
import { RefPattern } from './ref-pattern.ts';
import type { SleepSettings } from './sleep.ts';
import type { RuleAuthor, RuleEnvironment, SyncRule } from './sync-rules.ts';

/** What a Git host reports about a pull request; undefined where it does not. */
export interface PullRequestFacts {
  labels?: readonly string[] | undefined;
  targetBranch?: string | undefined;
  sourceBranch?: string | undefined;
  isDraft?: boolean | undefined;
  /** Whether its commits come from another repository; unknown counts as a fork, as in all of Coppice. */
  isFork?: boolean | undefined;
  author?: AuthorFacts | undefined;
}

/** Whom a Git host knows the author of a pull request as. */
export interface AuthorFacts {
  isMember: boolean;
  hasContributed?: boolean | undefined;
}

/** A ref, and for a pull request what is known about it. */
export interface RefFacts extends PullRequestFacts {
  type: GitRef['type'];
  name: string;
}

/** What a Repository's rules decide for a ref that has no environment. */
export interface RuleDecision {
  /** The first rule that matches, counted from 0; undefined if none does. */
  rule: number | undefined;
  environment: RuleEnvironment;
  ttlSeconds: number | undefined;
  sleep?: SleepSettings | undefined;
}

type Kind = 'branches' | 'tags' | 'pullRequests';

const kinds: Readonly<Record<GitRef['type'], Kind>> = {
  branch: 'branches',
  tag: 'tags',
  'pull request': 'pullRequests',
};

interface CompiledRule {
  rule: SyncRule;
  kind: Kind;
  names: Patterns;
  exclude: Patterns;
  targets: Patterns;
}

/** A Repository's rules, with their patterns compiled. Without rules every ref gets an empty environment. */
export class RuleDecisions {
  readonly #rules: readonly CompiledRule[] | undefined;

  constructor(rules: readonly SyncRule[] | undefined) {
    this.#rules = rules?.map(compiled);
  }

  /** Returns what the first matching rule decides; nothing is created for a ref that none matches. */
  decide(ref: RefFacts): RuleDecision {
    if (!this.#rules) return { rule: undefined, environment: 'empty', ttlSeconds: undefined };
    for (const [index, one] of this.#rules.entries()) {
      if (missOf(one, ref) !== undefined) continue;
      const { environment, ttlSeconds, sleep } = one.rule;
      return { rule: index, environment, ttlSeconds, sleep };
    }
    return { rule: undefined, environment: 'none', ttlSeconds: undefined };
  }

  /** Returns why a ref gets what decide() returns, for users. */
  explain(ref: RefFacts): string {
    if (!this.#rules) return 'there are no rules';
    const misses: string[] = [];
    for (const [index, one] of this.#rules.entries()) {
      if (one.kind !== kinds[ref.type]) continue;
      const miss = missOf(one, ref);
      if (miss === undefined) return `rule ${index + 1}: ${matchOf(one, ref)}`;
      misses.push(`rule ${index + 1}: ${miss}`);
    }
    return misses.length > 0 ? misses.join('; ') : `no rule is for ${kinds[ref.type]}`;
  }
}

function compiled(rule: SyncRule): CompiledRule {
  const kind = rule.branches ? 'branches' : rule.tags ? 'tags' : 'pullRequests';
  return {
    rule,
    kind,
    names: new Patterns(rule.branches ?? rule.tags),
    exclude: new Patterns(rule.exclude),
    targets: new Patterns(rule.pullRequests?.targetBranches),
  };
}

/** Returns why a rule does not match a ref; undefined if it does. A criterion that the host does not report fails. */
function missOf(compiledRule: CompiledRule, ref: RefFacts): string | undefined {
  const { rule, kind, names, exclude } = compiledRule;
  if (kind !== kinds[ref.type]) return `is for ${kind}`;
  if (kind === 'pullRequests') return pullRequestMiss(compiledRule, ref);
  if (names.find(ref.name) === undefined) return `the name matches none of its ${kind}`;
  return rule.exclude && exclude.find(ref.name) !== undefined ? 'excludes the name' : undefined;
}

function pullRequestMiss({ rule, exclude, targets }: CompiledRule, ref: RefFacts): string | undefined {
  const { labels, drafts, targetBranches, author } = rule.pullRequests ?? {};
  const forks = forksOf(rule);
  const isFork = ref.isFork !== false;
  if (forks !== undefined && isFork !== forks) return forkMiss(rule, ref);
  if (author !== undefined) {
    const isMet = isKnownAs(ref.author, author);
    // Some hosts are asked only once a rule of the Repository needs it.
    if (isMet === undefined) return `the host has not reported whether the author is a ${author}`;
    if (!isMet) return `the author is not a ${author}`;
  }
  if (labels) {
    if (!ref.labels) return notReported('labels');
    if (!labels.some((label) => ref.labels?.includes(label))) return 'has none of its labels';
  }
  if (targetBranches) {
    if (ref.targetBranch === undefined) return notReported('the target branch');
    if (targets.find(ref.targetBranch) === undefined) return 'the target branch matches none of its targetBranches';
  }
  if (drafts !== undefined) {
    if (ref.isDraft === undefined) return notReported('whether it is a draft');
    if (ref.isDraft !== drafts) return drafts ? 'is not a draft' : 'is a draft';
  }
  if (rule.exclude) {
    if (ref.sourceBranch === undefined) return notReported('the source branch');
    if (exclude.find(ref.sourceBranch) !== undefined) return 'excludes the source branch';
  }
  return undefined;
}

/**
 * Returns which pull requests a rule is for, forks (true), branches of the repository (false) or both. Anybody can open
 * a pull request from a fork, so these get contents only if a rule says so.
 */
function forksOf({ environment, pullRequests }: SyncRule): boolean | undefined {
  const hasContents = environment === 'created' || environment === 'built';
  return pullRequests?.forks ?? (hasContents ? false : undefined);
}

function forkMiss({ environment, pullRequests }: SyncRule, { isFork }: RefFacts): string {
  if (isFork === false) return 'does not come from a fork';
  const from =
    isFork === undefined ? 'counts as one from a fork, because the host does not report it' : 'comes from a fork';
  return pullRequests?.forks === false ? from : `${from}, and ${environment} requires forks: true`;
}

/** Returns whether a host knows the author as this; undefined if it does not report that. A member is also a contributor. */
function isKnownAs(author: AuthorFacts | undefined, required: RuleAuthor): boolean | undefined {
  if (author?.isMember === true) return true;
  return required === 'member' ? author?.isMember : author?.hasContributed;
}

function notReported(what: string): string {
  return `the host does not report ${what}`;
}

/** Returns why a rule matches; call it only for a ref that the rule matches. */
function matchOf({ rule, kind, names, targets }: CompiledRule, ref: RefFacts): string {
  if (kind !== 'pullRequests') return `the name matches ${names.find(ref.name) ?? ''}`;
  const { labels, drafts, targetBranches, author } = rule.pullRequests ?? {};
  const label = labels?.find((one) => ref.labels?.includes(one));
  const forks = forksOf(rule);
  const met = [
    ...(author === undefined ? [] : [`the author is a ${author}`]),
    ...(label === undefined ? [] : [`has the label ${label}`]),
    ...(targetBranches ? [`the target branch matches ${targets.find(ref.targetBranch ?? '') ?? ''}`] : []),
    ...(drafts === undefined ? [] : [drafts ? 'is a draft' : 'is not a draft']),
    ...(forks === undefined ? [] : [forks ? 'comes from a fork' : 'comes from the repository']),
  ];
  return met.length > 0 ? met.join(', ') : 'matches every pull request';
}

class Patterns {
  readonly #all: readonly { text: string; pattern: RefPattern }[];

  constructor(texts: readonly string[] = []) {
    this.#all = texts.map((text) => ({ text, pattern: new RefPattern(text) }));
  }

  /** Returns the first pattern that matches. */
  find(name: string): string | undefined {
    return this.#all.find(({ pattern }) => pattern.matches(name))?.text;
  }
}
