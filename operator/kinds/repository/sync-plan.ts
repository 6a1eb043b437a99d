import type { Environment } from '../../../crds/environment.ts';
import { gitRefKey, gitRefSchema, type GitRef } from '../../../crds/git-ref.ts';
import { environmentName, environmentNameBeside } from '../../../crds/environment-name.ts';
import type { PullRequestEvent } from '../../../crds/pull-request-events.ts';
import { DEFAULT_NEWEST_TAGS, type Repository } from '../../../crds/repository.ts';
import { requestAnnotation } from '../../../crds/requests.ts';
import { isAppliedByOthers, isMadeByCoppice } from '../../../crds/ownership.ts';
import type { RuleDecision } from '../../../crds/rule-decision.ts';
import { listedRefs, NO_RULES, type RefDecisions } from './ref-decisions.ts';
import type { RefListing } from './ref-listing.ts';
import { planBuilds, planIncludedBuilds, type PlannedBuild } from './sync-builds.ts';
import { newestTags } from './tag-order.ts';

export interface SyncInput {
  repository: string;
  spec: Pick<Repository['spec'], 'sync' | 'autoBuild' | 'onRefGone'>;
  listing: RefListing;
  /** What the Repository's rules decide for the refs of the list; absent without rules. */
  decisions?: RefDecisions | undefined;
  /** Pull request events of webhooks, used if the host does not list pull requests. */
  events: readonly PullRequestEvent[];
  /** The Repository's Environments before the refs were listed: the list does not apply to newer ones. */
  environments: readonly Environment[];
  /** Environments of other repositories that include this one, and are built with new commits. */
  includedIn?: readonly Environment[];
  /** Returns whether an Environment of another repository has the name. */
  isTaken: (name: string) => boolean;
  /** Maximum number of environments; no more are created. */
  maxEnvironments: number;
  /** Maximum number of environments of forks with contents; rules create no more. */
  maxForkEnvironments: number;
}

/** A ref that gets an environment. */
interface WantedRef {
  ref: GitRef;
  decision: Pick<RuleDecision, 'environment' | 'ttlSeconds' | 'sleep'>;
  /** Whether it gives contents to a fork. */
  isForkContents: boolean;
}

export interface SyncPlan {
  /** Environments to create. */
  create: (WantedRef & { name: string })[];
  /** Contents to build from a new commit. */
  build: PlannedBuild[];
  /** Environments to remove. `contents`: only the contents, because the object belongs to somebody else. */
  remove: { environment: Environment; what: 'object' | 'contents' }[];
  counts: { branches: number; tags: number; pullRequests?: number } & RefDecisions['report'];
  /** Refs whose names cannot be used. */
  unusable: string[];
  /** Number of refs without an environment because of the limit. */
  overLimit: number;
  /** Number of pull requests of forks without an environment because of their limit. */
  forksOverLimit: number;
  /** Number of environments that are kept because the host listed no branch at all. */
  heldBack: number;
  /** In a dry run: number of refs that would get an environment; otherwise undefined. */
  withheld: number | undefined;
  /** Refs whose environments' names are not free yet. */
  waiting: { name: string; ref: GitRef }[];
}

/** Plans the changes that synchronize a Repository's Environments with its refs. */
export function planSync(input: SyncInput): SyncPlan {
  const { listing, spec } = input;
  const mine = input.environments.filter((one) => !isGoing(one));
  const gone = spec.onRefGone === 'keep' ? [] : mine.filter((one) => isGone(one, input));
  const removes = listing.branches.size > 0 ? gone : [];
  const removed = new Set(removes);
  const staying = mine.filter((one) => !removed.has(one));
  const creations = planCreations(input, staying);
  return {
    ...(spec.sync?.dryRun === true ? withheld(creations) : { ...creations, withheld: undefined }),
    build: [
      ...(spec.autoBuild === false ? [] : planBuilds(staying, listing)),
      ...planIncludedBuilds(input.repository, input.includedIn ?? [], listing),
    ],
    remove: removes.flatMap((environment) => howToRemove(environment)),
    counts: {
      branches: listing.branches.size,
      tags: listing.tags.size,
      ...(listing.openPullRequests && { pullRequests: listing.openPullRequests.size }),
      ...input.decisions?.report,
    },
    heldBack: gone.length - removes.length,
  };
}

type Creations = Pick<SyncPlan, 'create' | 'unusable' | 'overLimit' | 'forksOverLimit' | 'waiting'>;

/** Returns the plan of a dry run. */
function withheld({ create, waiting, ...rest }: Creations): Creations & Pick<SyncPlan, 'withheld'> {
  return { ...rest, create: [], waiting: [], withheld: create.length + waiting.length };
}

function planCreations(input: SyncInput, staying: readonly Environment[]): Creations {
  const { repository, environments, isTaken, maxEnvironments } = input;
  const held = new Set(staying.map((one) => gitRefKey(one.spec.gitRef)));
  const taken = new Set(environments.map(({ metadata }) => metadata.name));
  // The previous environment of a ref that was created again keeps its name until it is gone.
  const going = new Set(
    environments
      .filter((one) => isGoing(one))
      .map(({ metadata, spec: { gitRef } }) => `${metadata.name} ${gitRefKey(gitRef)}`),
  );
  const plan: Creations = { create: [], unusable: [], overLimit: 0, forksOverLimit: 0, waiting: [] };
  const wanted = wantedRefs(input).filter(({ ref }) => !held.has(gitRefKey(ref)));
  const room = maxEnvironments - staying.length;
  let forkRoom = input.maxForkEnvironments - staying.filter((one) => isForkWithContents(one, input.listing)).length;
  for (const { ref, decision, isForkContents } of wanted.length > room ? interleavedByType(wanted) : wanted) {
    if (!isUsable(ref)) {
      plan.unusable.push(ref.name);
      continue;
    }
    if (plan.create.length + plan.waiting.length >= room) {
      plan.overLimit += 1;
      continue;
    }
    if (isForkContents && forkRoom <= 0) {
      plan.forksOverLimit += 1;
      continue;
    }
    if (isForkContents) forkRoom -= 1;
    const plain = environmentName(repository, ref);
    const name = [plain, environmentNameBeside(repository, ref)].find((one) => !taken.has(one) && !isTaken(one));
    if (name === undefined || going.has(`${plain} ${gitRefKey(ref)}`)) plan.waiting.push({ name: plain, ref });
    else {
      taken.add(name);
      plan.create.push({ name, ref, decision, isForkContents });
    }
  }
  return plan;
}

/**
 * Orders refs so that each type gets its share of a limit: pull requests of strangers leave room for branches, and a
 * thousand branches leave room for pull requests. The newest pull requests and tags come first.
 */
function interleavedByType(refs: readonly WantedRef[]): WantedRef[] {
  const byType = Map.groupBy(refs, ({ ref }) => ref.type);
  const queues = [byType.get('branch'), newestFirst(byType.get('pull request')), byType.get('tag')];
  const max = Math.max(...queues.map((queue) => queue?.length ?? 0));
  return Array.from({ length: max }, (_, index) => queues.flatMap((queue) => queue?.[index] ?? [])).flat();
}

function newestFirst(pullRequests: readonly WantedRef[] = []): WantedRef[] {
  return pullRequests.toSorted((one, other) => Number(other.ref.name) - Number(one.ref.name));
}

/** Returns the refs that get an environment unless they have one; of the tags only the newest. */
function wantedRefs({ spec, listing, events, decisions = NO_RULES }: SyncInput): WantedRef[] {
  const wanted = listedRefs(listing, events)
    .map(({ name, type, isFork }): WantedRef => {
      const decision = decisions.of({ name, type });
      const hasContents = decision.environment === 'created' || decision.environment === 'built';
      return {
        ref: { name, type },
        decision,
        isForkContents: hasContents && type === 'pull request' && isFork !== false,
      };
    })
    .filter(({ decision }) => decision.environment !== 'none');
  const tags = new Map(wanted.filter(({ ref }) => ref.type === 'tag').map((one) => [one.ref.name, one]));
  const newest = newestTags(tags.keys(), spec.sync?.newestTags ?? DEFAULT_NEWEST_TAGS);
  return [...wanted.filter(({ ref }) => ref.type !== 'tag'), ...newest.flatMap((name) => tags.get(name) ?? [])];
}

/** Returns whether an environment of a fork has contents, or was requested to; of unknown origin counts as a fork's. */
function isForkWithContents({ metadata, spec: { gitRef }, status }: Environment, listing: RefListing): boolean {
  if (gitRef.type !== 'pull request') return false;
  const isFork = listing.pullRequestFacts?.get(Number(gitRef.name))?.isFork ?? status?.fromFork;
  if (isFork === false) return false;
  return status?.activation?.active ?? metadata.annotations?.[requestAnnotation('create')] !== undefined;
}

/**
 * Returns whether the API server accepts an Environment of the ref; Git permits more names, including invalid UTF-8.
 */
function isUsable(ref: GitRef): boolean {
  return gitRefSchema.safeParse(ref).success && !ref.name.includes('\ufffd');
}

function isGoing({ metadata }: Environment): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/**
 * Returns whether the environment's ref existed and no longer does. An environment that waits for a new ref is kept.
 */
function isGone(environment: Environment, { spec, listing, events }: SyncInput): boolean {
  const { type, name } = environment.spec.gitRef;
  if (type === 'pull request' && !listing.openPullRequests) {
    const reported = events.find(({ number }) => `${number}` === name);
    if (reported?.isOpen === true) return false;
    const isMissing = listing.missingPullRequests?.has(Number(name)) === true;
    // Anyone who knows the webhook's secret can report a pull request as closed, so Git must confirm it, unless the
    // Repository disables that.
    if (reported) return isMissing || spec.sync?.confirmClosed === false;
    // If the delivery was missed, a ref that Git had and no longer has means the same.
    return hadCommit(environment) && isMissing;
  }
  if (!wasThere(environment)) return false;
  if (type === 'branch') return !listing.branches.has(name);
  if (type === 'tag') return !listing.tags.has(name);
  return listing.openPullRequests?.has(Number(name)) === false;
}

function wasThere(environment: Environment): boolean {
  return (isMadeByCoppice(environment) && !environment.spec.active) || hadCommit(environment);
}

/** Returns whether a commit of its ref was ever read. */
function hadCommit({ status }: Environment): boolean {
  return (status?.commit ?? status?.build?.commit) !== undefined;
}

function howToRemove(environment: Environment): SyncPlan['remove'] {
  if (isMadeByCoppice(environment) && !isAppliedByOthers(environment)) return [{ environment, what: 'object' }];
  const { activation, handledRequests } = environment.status ?? {};
  const asked = environment.metadata.annotations?.[requestAnnotation('delete')];
  const isPending = asked !== undefined && asked !== handledRequests?.delete;
  return activation?.active === true && !isPending ? [{ environment, what: 'contents' }] : [];
}
