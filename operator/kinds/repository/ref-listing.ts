import type { Environment } from '../../../crds/environment.ts';
import type { GitHost, PullRequest } from '../../source/hosts/host.ts';
import { HostBusyError, SourceRefusedError, SourceUnreachableError } from '../../source/errors.ts';
import type { RemoteRefs } from '../../source/git/remote-refs.ts';
import type { Source } from '../../source/git/source.ts';

/** All refs of a repository as its host reported them. */
export interface RefListing extends RemoteRefs {
  /** Numbers of the open ones; undefined where the host has no such list. */
  openPullRequests: ReadonlySet<number> | undefined;
  /** Why the host's list of them could not be read; then nothing is planned for them. */
  pullRequestsError?: SourceUnreachableError | undefined;
  /** As far as they matter. */
  pullRequestCommits: ReadonlyMap<number, string>;
  /** Where the host has no list: those that there are environments of, and whose ref git does not have. */
  missingPullRequests?: ReadonlySet<number>;
}

type RefSource = Pick<Source, 'listRefs' | 'commitsOf'>;

/**
 * Asks the host for every ref, and for the commits of those pull requests whose environments have contents; where it has
 * no list of pull requests, for the refs of all that there are environments of. Whole or not at all, but that branches and tags are listed also where the host's list of pull requests cannot be read. Throws
 * what Source.listRefs does, and SourceRefused as GitHost.openPullRequests does.
 */
export async function readListing(
  source: RefSource,
  host: GitHost,
  environments: readonly Environment[],
): Promise<RefListing> {
  const [refs, open] = await Promise.all([source.listRefs(host.access), openPullRequests(host)]);
  if (open instanceof SourceUnreachableError) {
    return { ...refs, openPullRequests: undefined, pullRequestsError: open, pullRequestCommits: new Map() };
  }
  if (!open) return { ...refs, openPullRequests: undefined, ...(await readHeads(source, host, environments)) };
  const wanted = numbersOf(environments.filter(({ status }) => status?.activation?.active === true));
  const pullRequests = open.filter(({ number }) => wanted.has(number));
  return {
    ...refs,
    openPullRequests: new Set(open.map(({ number }) => number)),
    pullRequestCommits: await commitsOf(source, host, refs, pullRequests),
  };
}

/** Where the host has no list: whether git still has the ref of each pull request that there is an environment of. */
async function readHeads(
  source: RefSource,
  host: GitHost,
  environments: readonly Environment[],
): Promise<Pick<RefListing, 'pullRequestCommits' | 'missingPullRequests'>> {
  const pullRequests = await Promise.all([...numbersOf(environments)].map((number) => host.pullRequest(number)));
  const names = pullRequests.map(({ location }) => location.refName);
  const found = await source.commitsOf(host.access, names);
  const commits = new Map<number, string>();
  const missing = new Set<number>();
  for (const { number, location } of pullRequests) {
    const commit = found.get(location.refName);
    if (commit === undefined) missing.add(number);
    else commits.set(number, commit);
  }
  return { pullRequestCommits: commits, missingPullRequests: missing };
}

async function openPullRequests(host: GitHost): Promise<readonly PullRequest[] | SourceUnreachableError | undefined> {
  try {
    return await host.openPullRequests();
  } catch (cause) {
    if (!(cause instanceof SourceUnreachableError)) throw cause;
    // The cause says why.
    const message = 'branches and tags are synchronized; pull requests are not changed';
    if (cause instanceof HostBusyError) return new HostBusyError(message, cause.retryAfterMs, { cause });
    return new SourceUnreachableError(message, { cause });
  }
}

function numbersOf(environments: readonly Environment[]): Set<number> {
  const refs = environments.map(({ spec }) => spec.gitRef);
  return new Set(refs.filter(({ type }) => type === 'pull request').map(({ name }) => Number(name)));
}

async function commitsOf(
  source: RefSource,
  host: GitHost,
  { branches }: RemoteRefs,
  pullRequests: readonly PullRequest[],
): Promise<Map<number, string>> {
  const commits = new Map<number, string>();
  const toAsk: PullRequest[] = [];
  for (const pullRequest of pullRequests) {
    const { number, commit, location } = pullRequest;
    const isOwn = location.access.origin === host.access.origin;
    const known = commit ?? (isOwn ? branches.get(location.refName.replace(/^refs\/heads\//, '')) : undefined);
    if (known === undefined) toAsk.push(pullRequest);
    else commits.set(number, known);
  }
  for (const [, atOrigin] of Map.groupBy(toAsk, ({ location }) => location.access.origin)) {
    const found = await askGit(source, atOrigin);
    for (const { number, location } of atOrigin) {
      const commit = found.get(location.refName);
      if (commit !== undefined) commits.set(number, commit);
    }
  }
  return commits;
}

/** One call for all at one origin. A fork that went away says nothing of the repository. */
async function askGit(source: RefSource, atOrigin: readonly PullRequest[]): Promise<ReadonlyMap<string, string>> {
  const [first] = atOrigin;
  if (!first) return new Map();
  try {
    const names = new Set(atOrigin.map(({ location }) => location.refName));
    return await source.commitsOf(first.location.access, [...names]);
  } catch (error) {
    if (error instanceof SourceRefusedError) return new Map();
    throw error;
  }
}
