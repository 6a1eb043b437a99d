import { describe, expect, test } from '@jest/globals';
import type { Environment } from '../../../crds/environment.ts';
import { sampleActivation } from '../../../crds/testing/activation.ts';
import type { SyncRule } from '../../../crds/sync-rules.ts';
import type { GitHost, PullRequest } from '../../source/hosts/host.ts';
import { HostBusyError, SourceRefusedError, SourceUnreachableError } from '../../source/errors.ts';
import { readListing } from './ref-listing.ts';

const one = '1'.repeat(40);
const two = '2'.repeat(40);
const own = 'https://git.example/shop.git';
const fork = 'https://git.example/fork-of-shop.git';

const pullRequest = (number: number, origin: string, refName: string, commit?: string): PullRequest => ({
  number,
  commit,
  isFork: origin !== own,
  location: { access: { origin, credentials: undefined }, refName },
});

function environment(number: number, active = true): Environment {
  const since = '2026-01-01T00:00:00Z';
  const activation = sampleActivation({ active, since, specActive: active });
  return {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Environment',
    metadata: { name: `pr-${number}` },
    spec: {
      repository: 'shop',
      gitRef: { name: `${number}`, type: 'pull request' },
      active,
      buildOnCreate: true,
    },
    status: { activation },
  };
}

type AuthorsOf = NonNullable<GitHost['authorsOf']>;

/** Returns the requests to the host and to git, and the result of readListing(). */
async function read(
  open: PullRequest[] | Error | undefined,
  environments: Environment[],
  commits: (origin: string) => Record<string, string> | Error = () => ({}),
  rules?: SyncRule[],
  events: { number: number; isOpen: boolean }[] = [],
  authors: AuthorsOf = () => Promise.resolve(new Map()),
) {
  const asked: string[] = [];
  const source = {
    listRefs: () => Promise.resolve({ branches: new Map([['main', one]]), tags: new Map<string, string>() }),
    commitsOf: ({ origin }: { origin: string }, names: readonly string[]) => {
      asked.push(`${origin} ${names.join(' ')}`);
      const found = commits(origin);
      return found instanceof Error ? Promise.reject(found) : Promise.resolve(new Map(Object.entries(found)));
    },
  };
  const host = {
    access: { origin: own, credentials: undefined },
    openPullRequests: ({ authors }: { authors: boolean }) => {
      if (authors) asked.push('authors');
      return open instanceof Error ? Promise.reject(open) : Promise.resolve(open);
    },
    pullRequest: (number: number) => Promise.resolve(pullRequest(number, own, `refs/pull/${number}/head`)),
    authorsOf: (numbers: readonly number[]) => {
      asked.push(`authors of ${numbers.join(', ')}`);
      return authors(numbers);
    },
  };
  const listing = await readListing(source, host as unknown as GitHost, environments, rules, events);
  return { listing, asked };
}

test.each<[SyncRule['pullRequests'], string[]]>([
  [{ author: 'member' }, ['authors']],
  [{ labels: ['preview'] }, []],
])('asks whom the host knows the authors as if a rule needs it: %j', async (pullRequests, expected) => {
  const rules: SyncRule[] = [
    { branches: ['main'], environment: 'built' },
    { pullRequests, environment: 'empty' },
  ];
  expect((await read([], [], undefined, rules)).asked).toEqual(expected);
});

describe('the authors of pull requests that the host does not list', () => {
  const rules: SyncRule[] = [{ pullRequests: { author: 'member' }, environment: 'empty' }];
  const events = [
    { number: 7, isOpen: true },
    { number: 8, isOpen: false },
  ];
  const member = new Map([[7, { isMember: true }]]);

  test('are those that the host reports of open ones', async () => {
    const { listing, asked } = await read(undefined, [], undefined, rules, events, () => Promise.resolve(member));
    expect(listing.authors).toBe(member);
    expect(asked).toEqual(['authors', 'authors of 7', `${own} `]);
  });

  test.each<[string, SyncRule[], typeof events]>([
    ['no rule needs them', [{ pullRequests: { labels: ['preview'] }, environment: 'empty' }], events],
    ['none was opened', rules, events.slice(1)],
  ])('are not requested if %s', async (_why, some, reported) => {
    const { listing, asked } = await read(undefined, [], undefined, some, reported);
    expect(listing.authors).toBeUndefined();
    expect(asked.filter((line) => line.startsWith('authors of'))).toEqual([]);
  });

  test('that cannot be read now affect nothing else', async () => {
    const silent = new SourceUnreachableError('the Git host did not respond in time');
    const { listing } = await read(undefined, [environment(7)], undefined, rules, events, () => Promise.reject(silent));
    expect(listing).toMatchObject({ branches: new Map([['main', one]]), missingPullRequests: new Set([7]) });
    const message = expect.stringContaining('the authors of new pull requests could not be read');
    expect(listing.pullRequestsError).toMatchObject({ message, cause: silent });
  });
});

describe('the commits of pull requests', () => {
  test('are those that the host reports', async () => {
    const { listing, asked } = await read([pullRequest(7, fork, 'refs/heads/x', two)], [environment(7)]);
    expect(listing).toMatchObject({ openPullRequests: new Set([7]), pullRequestCommits: new Map([[7, two]]) });
    expect(asked).toEqual([]);
  });

  test('are those of the branch if it is in the repository itself', async () => {
    const { listing, asked } = await read([pullRequest(7, own, 'refs/heads/main')], [environment(7)]);
    expect([listing.pullRequestCommits, asked]).toEqual([new Map([[7, one]]), []]);
  });

  test('are read with one git command if the host lists no pull requests; which are open then stays unknown', async () => {
    const found = () => ({ 'refs/pull/7/head': one, 'refs/pull/8/head': two });
    const { listing, asked } = await read(undefined, [environment(7), environment(8)], found);
    expect(asked).toEqual([`${own} refs/pull/7/head refs/pull/8/head`]);
    expect(listing.pullRequestCommits).toEqual(
      new Map([
        [7, one],
        [8, two],
      ]),
    );
    expect(listing.openPullRequests).toBeUndefined();
  });

  test('show which refs exist if the host lists no pull requests, also for environments without contents', async () => {
    const found = () => ({ 'refs/pull/8/head': two });
    const { listing } = await read(undefined, [environment(7, false), environment(8)], found);
    expect(listing.missingPullRequests).toEqual(new Set([7]));
  });

  test('fail the whole list if the host has none and git refuses them', async () => {
    const refused = new SourceRefusedError('NotFound', 'there is no such repository');
    await expect(read(undefined, [environment(7)], () => refused)).rejects.toThrow(refused);
  });

  test('are read only for environments with contents', async () => {
    const open = [pullRequest(7, fork, 'refs/heads/x'), pullRequest(8, fork, 'refs/heads/y')];
    const { listing, asked } = await read(open, [environment(8, false)]);
    expect([asked, listing.pullRequestCommits, listing.openPullRequests]).toEqual([[], new Map(), new Set([7, 8])]);
  });

  test('of a deleted fork are unknown, and all others known', async () => {
    const open = [pullRequest(7, fork, 'refs/heads/x'), pullRequest(8, own, 'refs/heads/main')];
    const gone = new SourceRefusedError('NotFound', 'there is no such repository');
    const { listing } = await read(open, [environment(7), environment(8)], () => gone);
    expect(listing.pullRequestCommits).toEqual(new Map([[8, one]]));
  });

  test('of a fork whose host does not respond fail the whole list', async () => {
    const silent = new SourceUnreachableError('the Git host did not respond in time');
    const reading = read([pullRequest(7, fork, 'refs/heads/x')], [environment(7)], () => silent);
    await expect(reading).rejects.toThrow(silent);
  });
});

describe('a list of pull requests that cannot be read', () => {
  test.each([
    [new SourceUnreachableError('it has too many pages'), {}],
    [new HostBusyError('too many requests', 60_000), { retryAfterMs: 60_000 }],
  ])('keeps branches and tags: %s', async (error, rest) => {
    const { listing } = await read(error, [environment(7)]);
    expect(listing).toMatchObject({ branches: new Map([['main', one]]), openPullRequests: undefined });
    expect(listing.pullRequestsError).toBeInstanceOf(error.constructor);
    const message =
      'the open pull requests could not be listed, so their environments stay as they are; branches and tags are synchronized';
    expect(listing.pullRequestsError).toMatchObject({ ...rest, message, cause: error });
  });

  test('because of missing permissions is reported like any refusal', async () => {
    const refused = new SourceRefusedError('Forbidden', 'the token has no permission to read pull requests');
    await expect(read(refused, [])).rejects.toThrow(refused);
  });
});
