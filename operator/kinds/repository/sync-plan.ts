import type { Environment } from '../../../crds/environment.ts';
import { gitRefKey, gitRefSchema, type GitRef } from '../../../crds/git-ref.ts';
import { environmentName, environmentNameBeside } from '../../../crds/environment-name.ts';
import type { PullRequestEvent } from '../../../crds/pull-request-events.ts';
import type { Repository } from '../../../crds/repository.ts';
import { requestAnnotation } from '../../../crds/requests.ts';
import { isAppliedByOthers, isMadeByCoppice } from '../../../crds/ownership.ts';
import type { RefListing } from './ref-listing.ts';
import { planBuilds, type PlannedBuild } from './sync-builds.ts';
import { newestTags } from './tag-order.ts';

export interface SyncInput {
  repository: string;
  spec: Pick<Repository['spec'], 'sync' | 'autoBuild' | 'onRefGone'>;
  listing: RefListing;
  /** Pull requests reported by webhooks; used if the host cannot list them. */
  events: readonly PullRequestEvent[];
  /** The Repository's, as they were before the refs were listed: what is newer than the list is not judged by it. */
  environments: readonly Environment[];
  /** Whether another repository's Environment has the name. */
  isTaken: (name: string) => boolean;
  /** That the Repository may have; beyond it none is created. */
  maxEnvironments: number;
}

export interface SyncPlan {
  /** Environments without contents, to be made. */
  create: { name: string; ref: GitRef }[];
  /** Contents to be brought to a new commit. */
  build: PlannedBuild[];
  /** `object`: it goes altogether; `contents`: somebody else's object, which stays. */
  remove: { environment: Environment; what: 'object' | 'contents' }[];
  counts: { branches: number; tags: number; pullRequests?: number };
  /** Refs that no environment can be made for. */
  unusable: string[];
  /** How many refs have no environment because there may be no more. */
  overLimit: number;
  /** How many environments a list without any branch would have taken away; they stay. */
  heldBack: number;
  /** Refs whose environments' names are not free yet. */
  waiting: { name: string; ref: GitRef }[];
}

const defaultNewestTags = 10;
const maxTag = 200;

/** What keeps a Repository's Environments in step with its refs. */
export function planSync(input: SyncInput): SyncPlan {
  const { listing, spec } = input;
  const mine = input.environments.filter((one) => !isGoing(one));
  const gone = spec.onRefGone === 'keep' ? [] : mine.filter((one) => isGone(one, input));
  const removes = listing.branches.size > 0 ? gone : [];
  const removed = new Set(removes);
  const staying = mine.filter((one) => !removed.has(one));
  return {
    ...planCreations(input, staying),
    build: spec.autoBuild === false ? [] : planBuilds(staying, listing),
    remove: removes.flatMap((environment) => howToRemove(environment)),
    counts: {
      branches: listing.branches.size,
      tags: listing.tags.size,
      ...(listing.openPullRequests && { pullRequests: listing.openPullRequests.size }),
    },
    heldBack: gone.length - removes.length,
  };
}

function planCreations(
  { repository, spec, listing, events, environments, isTaken, maxEnvironments }: SyncInput,
  staying: readonly Environment[],
): Pick<SyncPlan, 'create' | 'unusable' | 'overLimit' | 'waiting'> {
  const held = new Set(staying.map((one) => gitRefKey(one.spec.gitRef)));
  const taken = new Set(environments.map(({ metadata }) => metadata.name));
  // The former environment of a ref that came back keeps its name until it is gone.
  const going = new Set(
    environments
      .filter((one) => isGoing(one))
      .map(({ metadata, spec: { gitRef } }) => `${metadata.name} ${gitRefKey(gitRef)}`),
  );
  const plan: ReturnType<typeof planCreations> = { create: [], unusable: [], overLimit: 0, waiting: [] };
  const wanted = wantedRefs(spec, listing, events).filter((ref) => !held.has(gitRefKey(ref)));
  const room = maxEnvironments - staying.length;
  for (const ref of wanted.length > room ? interleavedByType(wanted) : wanted) {
    if (!isUsable(ref)) {
      plan.unusable.push(ref.name);
      continue;
    }
    if (plan.create.length + plan.waiting.length >= room) {
      plan.overLimit += 1;
      continue;
    }
    const plain = environmentName(repository, ref);
    const name = [plain, environmentNameBeside(repository, ref)].find((one) => !taken.has(one) && !isTaken(one));
    if (name === undefined || going.has(`${plain} ${gitRefKey(ref)}`)) plan.waiting.push({ name: plain, ref });
    else {
      taken.add(name);
      plan.create.push({ name, ref });
    }
  }
  return plan;
}

/**
 * Where not all can have one, each type of ref has its share: strangers, who open pull requests of forks, leave room for
 * branches, and a thousand branches leave room for pull requests. The newest pull requests and tags come first.
 */
function interleavedByType(refs: readonly GitRef[]): GitRef[] {
  const byType = Map.groupBy(refs, ({ type }) => type);
  const queues = [byType.get('branch'), newestFirst(byType.get('pull request')), byType.get('tag')];
  const max = Math.max(...queues.map((queue) => queue?.length ?? 0));
  return Array.from({ length: max }, (_, index) => queues.flatMap((queue) => queue?.[index] ?? [])).flat();
}

function newestFirst(pullRequests: readonly GitRef[] = []): GitRef[] {
  return pullRequests.toSorted((one, other) => Number(other.name) - Number(one.name));
}

function wantedRefs(spec: SyncInput['spec'], listing: RefListing, events: readonly PullRequestEvent[]): GitRef[] {
  const opened = events.filter(({ isOpen }) => isOpen).map(({ number }) => number);
  const shortTags = [...listing.tags.keys()].filter((name) => name.length <= maxTag);
  const tags = newestTags(shortTags, spec.sync?.newestTags ?? defaultNewestTags);
  return [
    ...[...listing.branches.keys()].map((name): GitRef => ({ name, type: 'branch' })),
    ...[...(listing.openPullRequests ?? opened)].map((number): GitRef => ({ name: `${number}`, type: 'pull request' })),
    ...tags.map((name): GitRef => ({ name, type: 'tag' })),
  ];
}

/** Whether the API server takes an Environment of it; git itself has more names, also such that are not UTF-8. */
function isUsable(ref: GitRef): boolean {
  return gitRefSchema.safeParse(ref).success && !ref.name.includes('\ufffd');
}

function isGoing({ metadata }: Environment): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Whether its ref was there and is not any more. One that waits for a ref to come is left alone. */
function isGone(environment: Environment, { spec, listing, events }: SyncInput): boolean {
  const { type, name } = environment.spec.gitRef;
  if (type === 'pull request' && !listing.openPullRequests) {
    const reported = events.find(({ number }) => `${number}` === name);
    if (reported?.isOpen === true) return false;
    const isMissing = listing.missingPullRequests?.has(Number(name)) === true;
    // Whoever knows the webhook's secret can say closed, once: nothing is deleted before git says so too, unless the
    // Repository has it so. Closed is not a ref that is yet to come.
    if (reported) return isMissing || spec.sync?.confirmClosed === false;
    // The delivery was missed; a ref that git had once, and that is no more, says as much.
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

/** Whether its ref was read once. */
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
