// Rules for automatic environments, at an emulated host with labels, drafts and forks.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { waitFor } from '../../support/wait-for.ts';
import { addedRefs } from '../git-host-journey.ts';
import { pageWith, startHarness, type Harness } from '../harness.ts';
import { adminOf, connect, HOSTED, makeHosted, type HostedRepository } from '../test-hosts.ts';

let harness: Harness;
let host: HostedRepository;
let repository: string;

const rules = [
  {
    branches: ['main', 'release/**'],
    exclude: ['release/*-old'],
    environment: 'built',
    ttlSeconds: 3600,
    sleep: { afterSeconds: 7200 },
  },
  { pullRequests: { labels: ['preview'], targetBranches: ['main'], drafts: false }, environment: 'built' },
  { tags: ['v*'] },
];

beforeAll(async () => {
  harness = await startHarness('rules');
  host = await makeHosted('ownerhost', harness.group);
  await host.push('refs/heads/main', 'main 1');
  await host.push('refs/heads/change', 'change 1');
  await host.push('refs/heads/release/1-old', 'old');
  await host.push('refs/tags/v1', 'main 1');
  await host.push('refs/tags/nightly', 'main 1');
  repository = await harness.register({ name: 'shop', type: 'ownerhost', params: host.params });
}, 120_000);

afterAll(async () => {
  await harness.remove();
  await host.remove();
}, 60_000);

const checkSchema = z.looseObject({
  listedAt: z.string().optional(),
  matched: z.array(z.int()),
  refs: z.array(z.looseObject({ type: z.string(), name: z.string(), environment: z.string(), why: z.string() })),
});
const statusSchema = z.looseObject({ status: z.looseObject({ sync: z.looseObject({ unmatched: z.unknown() }) }) });
const listSchema = z.looseObject({
  environments: z.array(z.looseObject({ id: z.string(), gitRef: z.object({ name: z.string(), type: z.string() }) })),
});

const path = (rest: string) => `/api/repository/${repository}${rest}`;
const set = (sync: object) => harness.client.call(z.unknown(), 'POST', path('/settings'), { sync });
const environments = async () => (await harness.client.call(listSchema, 'GET', path(''))).environments;
const admin = () => adminOf('ownerhost');
const hostPath = () => HOSTED.ownerhost.path(harness.group);

/** Returns why the last sync created what it created for a ref. */
async function whyOf(type: string, name: string): Promise<string | undefined> {
  const { refs } = await harness.client.call(checkSchema, 'GET', path('/rules'));
  return refs.find((ref) => ref.type === type && ref.name === name)?.why;
}

async function idOf(type: string, name: string): Promise<string> {
  const found = (await environments()).find(({ gitRef }) => gitRef.type === type && gitRef.name === name);
  if (!found) throw new Error(`${type} ${name} has no environment`);
  return found.id;
}

test('a dry run creates nothing, and reports what the rules match through the API and the status', async () => {
  await set({ rules, dryRun: true });
  await harness.sync(repository);
  const checked = await waitFor('the refs to be listed', 60, async () => {
    const found = await harness.client.call(checkSchema, 'GET', path('/rules'));
    return found.listedAt === undefined ? undefined : found;
  });
  expect(checked.matched).toEqual([1, 0, 1]);
  expect(checked.refs).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        name: 'main',
        environment: 'built',
        sleepAfterSeconds: 7200,
        why: 'rule 1: the name matches main',
      }),
      expect.objectContaining({ name: 'release/1-old', environment: 'none', why: 'rule 1: excludes the name' }),
      expect.objectContaining({ name: 'v1', environment: 'empty', why: 'rule 3: the name matches v*' }),
      expect.objectContaining({ name: 'nightly', environment: 'none' }),
    ]),
  );
  const tried = await harness.client.call(checkSchema, 'POST', path('/rules/check'), {
    rules: [{ branches: ['ch*'], environment: 'created' }],
  });
  expect(tried.refs).toContainEqual(expect.objectContaining({ name: 'change', environment: 'created' }));
  const at = ['repositories.coppice.dev', 'shop', '--namespace', `group-${harness.group}`];
  const status = await waitFor('the status', 30, async () => {
    const read = statusSchema.safeParse(JSON.parse(await harness.kubectl(['get', ...at, '--output', 'json'])));
    return read.data?.status.sync;
  });
  expect(status).toMatchObject({
    rules: [{ matched: 1, examples: ['main'] }, { matched: 0 }, { matched: 1, examples: ['v1'] }],
    unmatched: { count: 3, examples: expect.arrayContaining([{ ref: 'tag nightly', why: expect.any(String) }]) },
  });
  expect(await environments()).toEqual([]);
}, 120_000);

test('creates and builds what the rules say, and nothing else', async () => {
  await set({ dryRun: false });
  await harness.sync(repository);
  await addedRefs(harness, repository, ['branch main', 'tag v1']);
  const built = await harness.built(await idOf('branch', 'main'));
  await pageWith(built.weburl, 'main 1');
  expect(built['ttl']).toBe(3600);
  expect(built['settings']).toEqual({ sleep: { afterSeconds: 7200 } });
  expect(await harness.client.environment(await idOf('tag', 'v1'))).toMatchObject({ status: 'empty' });
}, 180_000);

test('builds a pull request when its label is added, and none of a fork', async () => {
  await connect(harness.client, repository, host);
  const [own, fork] = [await host.openPull('change'), await host.openForkPull('offer 1')];
  await admin().change(hostPath(), fork, { labels: ['preview'] });
  await waitFor('a sync after the label of the fork', 60, async () =>
    (await whyOf('pull request', `${fork}`)) === 'rule 2: comes from a fork, and built requires forks: true'
      ? true
      : undefined,
  );
  expect(await whyOf('pull request', `${own}`)).toBe('rule 2: has none of its labels');
  const byAuthor = { pullRequests: { author: 'member' }, environment: 'empty' };
  const tried = await harness.client.call(checkSchema, 'POST', path('/rules/check'), { rules: [byAuthor] });
  expect(tried.refs).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ name: `${own}`, environment: 'empty', why: 'rule 1: the author is a member' }),
      expect.objectContaining({ name: `${fork}`, environment: 'none', why: 'rule 1: the author is not a member' }),
    ]),
  );
  await admin().change(hostPath(), own, { labels: ['bug', 'preview'] });
  await addedRefs(harness, repository, ['branch main', 'tag v1', `pull request ${own}`]);
  const { weburl } = await harness.built(await idOf('pull request', `${own}`));
  await pageWith(weburl, 'change 1');
  await host.closePull(own);
  await addedRefs(harness, repository, ['branch main', 'tag v1']);
}, 240_000);

test.each([
  ['a rule for two types', [{ branches: ['a'], tags: ['a'] }], 'a rule has one of branches, tags and pullRequests'],
  ['too many patterns', Array(3).fill({ branches: Array(17).fill('a') }), 'all rules together can have 50 patterns'],
  ['too long patterns', Array(11).fill({ tags: ['a'.repeat(91)] }), 'of 1000 characters'],
  [
    'forks of anybody who has contributed',
    [{ pullRequests: { forks: true, author: 'contributor' }, environment: 'built' }],
    'forks: true requires labels or author: member',
  ],
  ['a bad pattern', [{ tags: ['v[0-9]'] }], 'spec.sync.rules[0].tags[0]'],
])(
  'the cluster refuses %s',
  async (_what, refused, message) => {
    const patch = JSON.stringify({ spec: { sync: { rules: refused } } });
    const at = ['repositories.coppice.dev', 'shop', '--namespace', `group-${harness.group}`];
    const patching = harness.kubectl(['patch', ...at, '--type', 'merge', '--dry-run=server', '--patch', patch]);
    await expect(patching).rejects.toThrow(message);
  },
  30_000,
);
