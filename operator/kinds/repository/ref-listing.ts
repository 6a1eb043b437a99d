import type { Environment } from '../../../crds/environment.ts';
import type { PullRequestEvent } from '../../../crds/pull-request-events.ts';
import type { AuthorFacts, PullRequestFacts } from '../../../crds/rule-decision.ts';
import type { SyncRule } from '../../../crds/sync-rules.ts';
import type { GitHost, PullRequest } from '../../source/hosts/host.ts';
import { HostBusyError, SourceRefusedError, SourceUnreachableError } from '../../source/errors.ts';
import type { RemoteRefs } from '../../source/git/remote-refs.ts';
import type { Source } from '../../source/git/source.ts';

/** All refs of a repository, as its host lists them. */
export interface RefListing extends RemoteRefs {
  /** Numbers of the open pull requests; undefined if the host does not list them. */
  openPullRequests: ReadonlySet<number> | undefined;
  /** What the list reports about them, by number. */
  pullRequestFacts?: ReadonlyMap<number, PullRequestFacts>;
  /**
   * Why the host's list of pull requests could not be read, and environments of pull requests are not changed; or why the
   * authors of those that webhooks reported could not be read, and these get no environment yet.
   */
  pullRequestsError?: SourceUnreachableError | undefined;
  /** If the host does not list pull requests: whom it knows the authors of those as that webhooks reported, by number. */
  authors?: ReadonlyMap<number, AuthorFacts>;
  /** Commits of the pull requests whose environments have contents. */
  pullRequestCommits: ReadonlyMap<number, string>;
  /** If the host does not list pull requests: those with environments whose ref Git no longer has. */
  missingPullRequests?: ReadonlySet<number>;
}

type RefSource = Pick<Source, 'listRefs' | 'commitsOf'>;

// The cause, which is appended where the message is shown, says why and what to do.
const unlistedMessage =
  'the open pull requests could not be listed, so their environments stay as they are; branches and tags are synchronized';
const unknownAuthorsMessage =
  'the authors of new pull requests could not be read, so these get no environment yet; everything else is synchronized';

/**
 * Lists all refs, and the commits of pull requests whose environments have contents; if the host does not list pull
 * requests, checks the refs of those with environments, and reads the authors of those that webhooks reported if rules
 * need them. Returns everything or throws, except that a failure to list pull requests does not affect branches and tags,
 * and one to read their authors only those that webhooks reported as open. Throws what Source.listRefs throws, and
 * SourceRefusedError of GitHost.openPullRequests.
 */
export async function readListing(
  source: RefSource,
  host: GitHost,
  environments: readonly Environment[],
  rules: readonly SyncRule[] = [],
  events: readonly PullRequestEvent[] = [],
): Promise<RefListing> {
  const authors = rules.some(({ pullRequests }) => pullRequests?.author !== undefined);
  const [refs, open] = await Promise.all([
    source.listRefs(host.access),
    orUnreachable(() => host.openPullRequests({ authors }), unlistedMessage),
  ]);
  const unlisted = { ...refs, openPullRequests: undefined };
  if (open instanceof SourceUnreachableError) {
    return { ...unlisted, pullRequestsError: open, pullRequestCommits: new Map() };
  }
  if (!open) {
    const opened = authors ? events.filter(({ isOpen }) => isOpen).map(({ number }) => number) : [];
    const readAuthors = async () => host.authorsOf?.(opened);
    const found = opened.length > 0 ? await orUnreachable(readAuthors, unknownAuthorsMessage) : undefined;
    return {
      ...unlisted,
      ...(found instanceof SourceUnreachableError ? { pullRequestsError: found } : found && { authors: found }),
      ...(await readHeads(source, host, environments)),
    };
  }
  const wanted = numbersOf(environments.filter(({ status }) => status?.activation?.active === true));
  const pullRequests = open.filter(({ number }) => wanted.has(number));
  return {
    ...refs,
    openPullRequests: new Set(open.map(({ number }) => number)),
    pullRequestFacts: new Map(open.map(({ number, isFork, facts }) => [number, { ...facts, isFork }])),
    pullRequestCommits: await commitsOf(source, host, refs, pullRequests),
  };
}

/** Checks whether Git still has the ref of each pull request with an environment, for hosts that do not list them. */
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

/** Returns an error with this message if the host cannot be reached for a request about pull requests. */
async function orUnreachable<T>(request: () => Promise<T>, message: string): Promise<T | SourceUnreachableError> {
  try {
    return await request();
  } catch (cause) {
    if (!(cause instanceof SourceUnreachableError)) throw cause;
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

/** Reads the refs of all pull requests at one origin with one call. A missing fork does not affect the repository. */
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
