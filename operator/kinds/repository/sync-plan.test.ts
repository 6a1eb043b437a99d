import { describe, expect, test } from '@jest/globals';
import type { Environment } from '../../../crds/environment.ts';
import { gitRefKey, type GitRef } from '../../../crds/git-ref.ts';
import { environmentName } from '../../../crds/environment-name.ts';
import { sampleActivation } from '../../../crds/testing/activation.ts';
import { syncRulesSchema } from '../../../crds/sync-rules.ts';
import { decideRefs, listedRefs } from './ref-decisions.ts';
import type { RefListing } from './ref-listing.ts';
import { planSync, type SyncInput } from './sync-plan.ts';

const one = '1'.repeat(40);
const two = '2'.repeat(40);
const branch = (name: string): GitRef => ({ name, type: 'branch' });
const tag = (name: string): GitRef => ({ name, type: 'tag' });
const pull = (number: number): GitRef => ({ name: `${number}`, type: 'pull request' });

type Status = NonNullable<Environment['status']>;
const activation = (active: boolean, buildPending = false) => sampleActivation({ active, buildPending });
const withContents = (commit: string): Status => ({ activation: activation(true), commit, revision: 'v' });
const build = (commit: string | undefined, result: 'running' | 'failed' = 'failed') => ({
  number: 1,
  result,
  startedAt: '2026-01-01T00:00:00Z',
  ...(commit !== undefined && { commit }),
});

/** Returns an environment as a sync creates it, with these changes. */
function environment(
  ref: GitRef,
  {
    status,
    metadata,
    active = false,
    repository = 'shop',
  }: {
    status?: Status;
    metadata?: Partial<Environment['metadata']>;
    active?: boolean;
    repository?: string;
  } = {},
): Environment {
  const name = environmentName(repository, ref);
  return {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Environment',
    metadata: {
      name,
      namespace: 'group-acme',
      uid: `uid-${name}`,
      labels: { 'app.kubernetes.io/managed-by': 'coppice' },
      ...metadata,
    },
    spec: { repository, gitRef: ref, active, buildOnCreate: true },
    ...(status && { status }),
  };
}

const spawned = (ref: GitRef, status?: Status, metadata?: Partial<Environment['metadata']>) =>
  environment(ref, { active: true, ...(status && { status }), ...(metadata && { metadata }) });
/** Returns an environment that a GitOps tool applied. */
const applied = (ref: GitRef, status?: Status, metadata: Partial<Environment['metadata']> = {}) =>
  spawned(ref, status, { labels: {}, ...metadata });
const going = { deletionTimestamp: '2026-01-01T00:00:00Z' };

function listing(refs: Partial<Record<'branches' | 'tags', Record<string, string>>>, rest: Partial<RefListing> = {}) {
  return {
    branches: new Map(Object.entries(refs.branches ?? { main: one })),
    tags: new Map(Object.entries(refs.tags ?? {})),
    openPullRequests: new Set<number>(),
    pullRequestCommits: new Map<number, string>(),
    ...rest,
  };
}

/** Plans the sync of the environments of a namespace. */
function plan({ environments = [], ...input }: Partial<Omit<SyncInput, 'isTaken'>>) {
  const ofOthers = environments.filter(({ spec }) => spec.repository !== 'shop');
  const planned = planSync({
    repository: 'shop',
    spec: {},
    listing: listing({}),
    events: [],
    environments: environments.filter(({ spec }) => spec.repository === 'shop'),
    isTaken: (name) => ofOthers.some(({ metadata }) => metadata.name === name),
    maxEnvironments: 10_000,
    maxForkEnvironments: 10_000,
    ...input,
  });
  return {
    ...planned,
    create: planned.create.map(({ ref }) => gitRefKey(ref)),
    build: planned.build.map(({ environment: { metadata }, commit }) => [metadata.name, commit]),
    remove: planned.remove.map(({ environment: { metadata }, what }) => [metadata.name, what]),
  };
}

describe('creates', () => {
  const cases: [string, Partial<SyncInput>, string[]][] = [
    [
      'a branch, a pull request and a tag',
      { listing: listing({ tags: { v1: one } }, { openPullRequests: new Set([7]) }) },
      ['branch:main', 'pull request:7', 'tag:v1'],
    ],
    ['nothing if an Environment has the ref', { environments: [environment(branch('main'))] }, []],
    [
      'nothing if an applied Environment of another name has the ref',
      { environments: [applied(branch('main'), undefined, { name: 'production' })] },
      [],
    ],
    ['nothing if a spawned Environment has the ref', { environments: [spawned(branch('main'))] }, []],
    [
      "one if only another repository's Environment has the same ref",
      { environments: [environment(branch('main'), { repository: 'api' })] },
      ['branch:main'],
    ],
    [
      'a branch beside a tag of the same name',
      { listing: listing({ branches: { v1: one }, tags: { v1: one } }), environments: [environment(tag('v1'))] },
      ['branch:v1'],
    ],
    [
      'only the newest tags, ten by default',
      { listing: listing({ tags: Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`v1.${i}`, one])) }) },
      ['branch:main', ...Array.from({ length: 10 }, (_, i) => `tag:v1.${29 - i}`)],
    ],
    [
      'the configured number of tags',
      { spec: { sync: { newestTags: 2 } }, listing: listing({ tags: { 'v1.9': one, 'v1.10': one, 'v1.2': one } }) },
      ['branch:main', 'tag:v1.10', 'tag:v1.9'],
    ],
    [
      'no tag if the configured number is 0',
      { spec: { sync: { newestTags: 0 } }, listing: listing({ tags: { v1: one } }) },
      ['branch:main'],
    ],
    [
      'names with slashes, other scripts and 200 characters',
      { listing: listing({ branches: { 'feature/cart/2': one, 'größe-✓': one, ['x'.repeat(200)]: one } }) },
      ['branch:feature/cart/2', 'branch:größe-✓', `branch:${'x'.repeat(200)}`],
    ],
    [
      'a pull request that a webhook notified of, where the host has no list',
      { listing: listing({}, { openPullRequests: undefined }), events: [{ number: 3, isOpen: true }] },
      ['branch:main', 'pull request:3'],
    ],
    [
      'none that a webhook notified of where the list says otherwise',
      { events: [{ number: 3, isOpen: true }] },
      ['branch:main'],
    ],
    ['nothing, of an empty repository', { listing: listing({ branches: {} }) }, []],
  ];
  test.each(cases)('%s', (_what, input, expected) => {
    expect(plan(input).create).toEqual(expected);
  });

  test('gives each of 5,000 branches a name of its own', () => {
    const branches = Object.fromEntries(
      Array.from({ length: 5000 }, (_, i) => [i % 2 === 0 ? `feature/number-${i}` : `feature-number-${i - 1}`, one]),
    );
    const { create } = planSync({
      repository: 'shop',
      spec: {},
      listing: listing({ branches }),
      events: [],
      environments: [],
      isTaken: () => false,
      maxEnvironments: 10_000,
      maxForkEnvironments: 10_000,
    });
    expect(new Set(create.map(({ name }) => name)).size).toBe(5000);
    expect(create.every(({ name }) => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])$/.test(name))).toBe(true);
  });

  test("avoids the name of another repository's environment", () => {
    const other = environment(branch('main'), { repository: 'shop-a' });
    const { create } = planSync({
      repository: 'shop',
      spec: {},
      listing: listing({ branches: { 'a-main': one } }),
      events: [],
      environments: [],
      isTaken: (name) => name === other.metadata.name,
      maxEnvironments: 10_000,
      maxForkEnvironments: 10_000,
    });
    expect(create).toMatchObject([
      { name: expect.stringMatching(/^shop-a-main-[a-z2-7]{16}$/), ref: branch('a-main') },
    ]);
  });

  test('waits for the removal of the former environment of a ref that is back', () => {
    const former = environment(branch('main'), { metadata: going });
    expect(plan({ environments: [former] })).toMatchObject({
      create: [],
      waiting: [{ name: 'shop-main', ref: branch('main') }],
    });
  });

  test.each([
    ['longer than 200 characters', 'x'.repeat(201)],
    ['with a leading dash, which git lets pass', '-x'],
    ['that is not UTF-8', 'caf\ufffd'],
  ])('reports and omits a name %s', (_what, name) => {
    expect(plan({ listing: listing({ branches: { main: one, [name]: one } }) })).toMatchObject({
      create: ['branch:main'],
      unusable: [name],
    });
  });

  test.each([0, 1e9, 1e21, 1.5])('omits a pull request with number %p, which the API server refuses', (number) => {
    const open = listing({}, { openPullRequests: new Set([number, 7]) });
    expect(plan({ listing: open })).toMatchObject({
      create: ['branch:main', 'pull request:7'],
      unusable: [`${number}`],
    });
  });

  test('does not count a tag longer than 200 characters among the newest', () => {
    const tags = { v1: one, [`v2${'0'.repeat(200)}`]: one };
    expect(plan({ spec: { sync: { newestTags: 1 } }, listing: listing({ tags }) })).toMatchObject({
      create: ['branch:main', 'tag:v1'],
      unusable: [],
    });
  });

  test('creates at most as many as permitted, and reports how many there would be', () => {
    const branches = { main: one, a: one, b: one, c: one };
    const environments = [environment(branch('main')), spawned(branch('old'), withContents(one))];
    expect(plan({ listing: listing({ branches }), environments, maxEnvironments: 3 })).toMatchObject({
      create: ['branch:a', 'branch:b'],
      remove: [['shop-old', 'object']],
      overLimit: 1,
    });
  });

  test('gives each type of ref its share when there are too many', () => {
    const branches = Object.fromEntries(Array.from({ length: 3001 }, (_, index) => [`b${index}`, one]));
    const openPullRequests = new Set(Array.from({ length: 40 }, (_, index) => index + 1));
    const planned = plan({
      listing: listing({ branches, tags: { v1: one, v2: one } }, { openPullRequests }),
      maxEnvironments: 8,
    });
    expect(planned.create).toEqual([
      ...['branch:b0', 'pull request:40', 'tag:v2'],
      ...['branch:b1', 'pull request:39', 'tag:v1'],
      ...['branch:b2', 'pull request:38'],
    ]);
    expect(planned.overLimit).toBe(3001 + 40 + 2 - 8);
  });

  test('counts those that users spawned, and does not fail if they exceed the limit', () => {
    const environments = ['a', 'b', 'c'].map((name) => spawned(branch(name), withContents(one)));
    const branches = { main: one, a: one, b: one, c: one };
    expect(plan({ listing: listing({ branches }), environments, maxEnvironments: 2 })).toMatchObject({
      create: [],
      remove: [],
      overLimit: 1,
    });
  });
});

describe('removes', () => {
  const old = branch('old');
  const cases: [string, Partial<SyncInput>, unknown[]][] = [
    [
      'the environment of a deleted branch, with contents or without',
      { environments: [environment(old), spawned(branch('older'), withContents(one))] },
      [
        ['shop-old', 'object'],
        ['shop-older', 'object'],
      ],
    ],
    [
      'of a renamed default branch the old one',
      { listing: listing({ branches: { trunk: one } }), environments: [spawned(branch('main'), withContents(one))] },
      [['shop-main', 'object']],
    ],
    ['of a deleted tag', { environments: [environment(tag('v1'))] }, [[environmentName('shop', tag('v1')), 'object']]],
    [
      'not of a tag that is no longer among the newest',
      {
        spec: { sync: { newestTags: 1 } },
        listing: listing({ tags: { v1: one, v2: one } }),
        environments: [environment(tag('v1'))],
      },
      [],
    ],
    [
      'of a closed pull request',
      { environments: [spawned(pull(7), withContents(one))] },
      [[environmentName('shop', pull(7)), 'object']],
    ],
    [
      'not of an open one',
      { listing: listing({}, { openPullRequests: new Set([7]) }), environments: [spawned(pull(7), withContents(one))] },
      [],
    ],
    [
      'of one that a webhook notified of, where the host has no list, and git has its ref no more',
      {
        listing: listing({}, { openPullRequests: undefined, missingPullRequests: new Set([7]) }),
        events: [{ number: 7, isOpen: false }],
        environments: [spawned(pull(7), withContents(one)), spawned(pull(8), withContents(one))],
      },
      [[environmentName('shop', pull(7)), 'object']],
    ],
    [
      'not of one whose ref git has, whatever a webhook reports: it is signed by whoever knows the secret',
      {
        listing: listing({}, { openPullRequests: undefined, missingPullRequests: new Set() }),
        events: [{ number: 7, isOpen: false }],
        environments: [spawned(pull(7), withContents(one))],
      },
      [],
    ],
    [
      'of one whose ref git keeps, where the Repository believes its webhook',
      {
        spec: { sync: { newestTags: 10, confirmClosed: false } },
        listing: listing({}, { openPullRequests: undefined, missingPullRequests: new Set() }),
        events: [{ number: 7, isOpen: false }],
        environments: [spawned(pull(7), withContents(one)), spawned(pull(8), withContents(one))],
      },
      [[environmentName('shop', pull(7)), 'object']],
    ],
    [
      'of one that a webhook notified of before its environment was planned',
      {
        listing: listing({}, { openPullRequests: undefined, missingPullRequests: new Set([7, 8]) }),
        events: [{ number: 7, isOpen: false }],
        environments: [spawned(pull(7)), spawned(pull(8))],
      },
      [[environmentName('shop', pull(7)), 'object']],
    ],
    [
      'of one that git has no more, where the host has no list and its delivery was missed',
      {
        listing: listing({}, { openPullRequests: undefined, missingPullRequests: new Set([7, 8, 9]) }),
        events: [{ number: 9, isOpen: true }],
        environments: [
          spawned(pull(7), withContents(one)),
          environment(pull(8)),
          spawned(pull(9), withContents(one)),
          spawned(pull(6), withContents(one)),
        ],
      },
      [[environmentName('shop', pull(7)), 'object']],
    ],
    [
      'all clones of the ref',
      { environments: [spawned(old, withContents(one)), spawned(old, withContents(one), { name: 'copy' })] },
      [
        ['shop-old', 'object'],
        ['copy', 'object'],
      ],
    ],
    [
      'only the contents of an applied Environment',
      { environments: [applied(old, withContents(one))] },
      [['shop-old', 'contents']],
    ],
    [
      'only the contents of an Environment that Coppice created and a GitOps tool applied later',
      {
        environments: [spawned(old, withContents(one), { managedFields: [{ manager: 'flux', operation: 'Apply' }] })],
      },
      [['shop-old', 'contents']],
    ],
    [
      'only the contents of an Environment that Coppice created and a user applied later',
      {
        environments: [
          spawned(old, withContents(one), {
            annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
          }),
        ],
      },
      [['shop-old', 'contents']],
    ],
    [
      'nothing of an applied Environment without contents',
      { environments: [applied(old, { activation: activation(false), build: build(one) })] },
      [],
    ],
    [
      'nothing twice while its delete request is pending',
      { environments: [applied(old, withContents(one), { annotations: { 'coppice.dev/request-delete': 'x' } })] },
      [],
    ],
    [
      'nothing that waits for a ref that never existed',
      { environments: [spawned(old, { activation: activation(true) })] },
      [],
    ],
    ['nothing of another repository', { environments: [environment(old, { repository: 'api' })] }, []],
    ['nothing that is already being deleted', { environments: [environment(old, { metadata: going })] }, []],
    ['nothing with onRefGone: keep', { spec: { onRefGone: 'keep' }, environments: [environment(old)] }, []],
    [
      'one that a build made of a commit though its contents are gone',
      { environments: [spawned(old, { activation: activation(false), build: build(one) })] },
      [['shop-old', 'object']],
    ],
  ];
  test.each(cases)('%s', (_what, input, expected) => {
    expect(plan(input).remove).toEqual(expected);
  });

  test('removes nothing if the list has no branch at all, and reports how much stays', () => {
    const environments = [environment(branch('main')), spawned(pull(7), withContents(one))];
    expect(plan({ listing: listing({ branches: {} }), environments })).toMatchObject({ remove: [], heldBack: 2 });
  });
});

describe('builds', () => {
  const main = branch('main');
  const moved = (status: Status, rest: Partial<SyncInput> = {}): Partial<SyncInput> => ({
    listing: listing({ branches: { main: two } }),
    environments: [spawned(main, status)],
    ...rest,
  });
  const created = [
    {
      type: 'Created',
      status: 'False' as const,
      reason: 'RefNotFound',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ];
  /** Returns cases of an environment whose commit was requested at 00:10, by what happened to it. */
  function afterRequest(): [string, Partial<SyncInput>, boolean][] {
    const asked = `2026-01-01T00:10:00.000Z/sync-${two}`;
    const lost = { ...build(undefined), startedAt: '2026-01-01T00:10:01.000Z' };
    const built = (reason: string) => created.map((condition) => ({ ...condition, type: 'Built', reason }));
    const after = (status: Partial<Status>): Partial<SyncInput> => {
      const whole = { ...withContents(one), handledRequests: { build: asked }, ...status };
      const metadata = { annotations: { 'coppice.dev/request-build': asked } };
      return { ...moved(whole), environments: [spawned(main, whole, metadata)] };
    };
    const silent = built('SourceUnreachable');
    return [
      ['again what was lost as the host was silent', after({ build: lost, conditions: silent }), true],
      [
        'not again while the request waits',
        after({ build: lost, conditions: silent, handledRequests: { build: 'former' } }),
        false,
      ],
      ['not again while it is built', after({ build: { ...lost, result: 'running' }, conditions: silent }), false],
      ['not again what failed for its own sake', after({ build: lost, conditions: built('BuildFailed') }), false],
      [
        'not again what failed for its own sake, of its commit',
        after({ build: { ...lost, commit: two }, conditions: built('ServiceFileInvalid') }),
        false,
      ],
      ['again what joined a build of another commit', after({ build: build(one) }), true],
      ['not again where a build after it is of another commit', after({ build: { ...lost, commit: one } }), false],
    ];
  }

  const cases: [string, Partial<SyncInput>, boolean][] = [
    ['a new commit, or a force push', moved(withContents(one)), true],
    ['not the commit that is there', moved(withContents(two)), false],
    ['not one that waits for an approval', moved({ ...withContents(one), approval: { waitingCommit: two } }), false],
    [
      'one that follows a commit that waits for an approval',
      moved({ ...withContents(one), approval: { waitingCommit: one } }),
      true,
    ],
    ['not one that is being built', moved({ ...withContents(one), build: build(two, 'running') }), false],
    ['not one whose build failed', moved({ ...withContents(one), build: build(two) }), false],
    [
      'not one that was asked for',
      {
        ...moved(withContents(one)),
        environments: [
          spawned(main, withContents(one), {
            annotations: { 'coppice.dev/request-build': `2026-01-01T00:00:00Z/sync-${two}` },
          }),
        ],
      },
      false,
    ],
    [
      'one, though another was asked for before',
      {
        ...moved(withContents(one)),
        environments: [
          spawned(main, withContents(one), {
            annotations: { 'coppice.dev/request-build': `2026-01-01T00:00:00Z/sync-${one}` },
          }),
        ],
      },
      true,
    ],
    ...afterRequest(),
    ['nothing without contents', moved({ activation: activation(false), commit: one }), false],
    ['nothing that no reconcile has seen', { listing: listing({}), environments: [spawned(main)] }, false],
    ['nothing where it is switched off', moved(withContents(one), { spec: { autoBuild: false } }), false],
    [
      'a ref that was pushed after its environment was made',
      moved({ activation: activation(true), conditions: created }),
      true,
    ],
    ['not what is being set up and was to be built manually', moved({ activation: activation(true) }), false],
    [
      'what is being set up and built, which may be of the former commit',
      moved({ activation: activation(true, true) }),
      true,
    ],
    [
      'nothing that is going',
      { ...moved(withContents(one)), environments: [spawned(main, withContents(one), going)] },
      false,
    ],
  ];
  test.each(cases)('%s', (_what, input, expected) => {
    expect(plan(input).build).toEqual(expected ? [['shop-main', two]] : []);
  });

  test('nothing, but checks a commit that follows one that waits for an approval and is not to be built', () => {
    const status = { activation: activation(true), approval: { waitingCommit: one } };
    const ask = (annotations: Record<string, string> = {}) =>
      planSync({
        ...{ repository: 'shop', spec: {}, listing: listing({ branches: { main: two } }), events: [] },
        ...{ isTaken: () => false, maxEnvironments: 1, maxForkEnvironments: 1 },
        environments: [spawned(main, status, { annotations })],
      }).build.map(({ commit, request }) => [commit, request]);
    expect(ask()).toEqual([[two, 'create']]);
    expect(ask({ 'coppice.dev/request-create': `2026-01-01T00:00:00Z/sync-${two}` })).toEqual([]);
  });

  test('moved tags and pull requests', () => {
    const input = {
      listing: listing(
        { tags: { latest: two } },
        { openPullRequests: new Set([7]), pullRequestCommits: new Map([[7, two]]) },
      ),
      environments: [spawned(tag('latest'), withContents(one)), spawned(pull(7), withContents(one))],
    };
    expect(plan(input).build.map(([, commit]) => commit)).toEqual([two, two]);
  });
});

test('counts refs', () => {
  const found = listing({ tags: { v1: one, v2: one } }, { openPullRequests: new Set([1]) });
  expect(plan({ listing: found }).counts).toEqual({ branches: 1, tags: 2, pullRequests: 1 });
  expect(plan({ listing: listing({}, { openPullRequests: undefined }) }).counts).toEqual({ branches: 1, tags: 0 });
});

describe('with rules', () => {
  const refs = listing(
    { branches: { main: one, wip: one }, tags: { v1: one, v2: one, 'v3-rc1': one, nightly: one } },
    {
      openPullRequests: new Set([7, 8]),
      pullRequestFacts: new Map([
        [7, { labels: ['preview'], isFork: false }],
        [8, { labels: [], isFork: true }],
      ]),
    },
  );
  const rules = syncRulesSchema.parse([
    { branches: ['main'], environment: 'created', ttlSeconds: 60 },
    { pullRequests: { labels: ['preview'] }, environment: 'built' },
    { tags: ['v*'], exclude: ['*-rc*'] },
    { branches: ['wip'], environment: 'none' },
  ]);

  async function planned(
    input: Partial<
      Pick<SyncInput, 'environments' | 'spec' | 'listing' | 'maxEnvironments' | 'maxForkEnvironments'>
    > = {},
  ) {
    const { spec = {}, listing: listed = refs } = input;
    return planSync({
      repository: 'shop',
      listing: listed,
      decisions: await decideRefs(spec.sync?.rules ?? rules, listedRefs(listed, [])),
      events: [],
      environments: [],
      isTaken: () => false,
      maxEnvironments: 10_000,
      maxForkEnvironments: 10_000,
      ...input,
      spec: { ...spec, sync: { newestTags: 10, rules, ...spec.sync } },
    });
  }
  const created = async (...input: Parameters<typeof planned>) =>
    (await planned(...input)).create.map(({ ref, decision }) => [gitRefKey(ref), decision.environment]);

  test('creates what the first rule that matches says, and nothing for other refs', async () => {
    const { create, counts } = await planned();
    expect(create.map(({ ref, decision }) => [gitRefKey(ref), decision.environment, decision.ttlSeconds])).toEqual([
      ['branch:main', 'created', 60],
      ['pull request:7', 'built', undefined],
      ['tag:v2', 'empty', undefined],
      ['tag:v1', 'empty', undefined],
    ]);
    expect(counts).toEqual({
      branches: 2,
      tags: 4,
      pullRequests: 2,
      rules: [
        { matched: 1, examples: ['main'] },
        { matched: 1, examples: ['7'] },
        { matched: 2, examples: ['v1', 'v2'] },
        { matched: 1, examples: ['wip'] },
      ],
      unmatched: {
        count: 3,
        examples: [
          { ref: 'pull request 8', why: 'rule 2: comes from a fork, and built requires forks: true' },
          { ref: 'tag v3-rc1', why: 'rule 3: excludes the name' },
          { ref: 'tag nightly', why: 'rule 3: the name matches none of its tags' },
        ],
      },
    });
  });

  test('counts only matching tags among the newest', async () => {
    const tags = await created({ spec: { sync: { newestTags: 1 } } });
    expect(tags.filter(([ref]) => ref?.startsWith('tag:') === true)).toEqual([['tag:v2', 'empty']]);
  });

  test('neither changes nor removes an environment, whatever a rule says of its ref', async () => {
    const environments = [environment(branch('main')), environment(branch('wip')), environment(pull(8))];
    const plan = await planned({ environments });
    expect(plan.create.map(({ ref }) => gitRefKey(ref))).toEqual(['pull request:7', 'tag:v2', 'tag:v1']);
    expect([plan.remove, plan.build]).toEqual([[], []]);
  });

  test('creates the environment of a pull request whose label is added later', async () => {
    const facts = new Map(refs.pullRequestFacts).set(8, { labels: ['preview'], isFork: false });
    expect(await created({ listing: { ...refs, pullRequestFacts: facts } })).toContainEqual([
      'pull request:8',
      'built',
    ]);
  });

  describe('limits the environments of forks with contents', () => {
    const forks = syncRulesSchema.parse([
      { branches: ['main'], environment: 'built' },
      { pullRequests: { labels: ['preview'], forks: true }, environment: 'built' },
      { pullRequests: { labels: ['preview'], forks: false }, environment: 'built' },
      { pullRequests: {} },
    ]);
    const facts = (isFork: boolean | undefined) => ({ labels: ['preview'], isFork });
    const listed = listing(
      { branches: { main: one } },
      {
        openPullRequests: new Set([1, 2, 3, 4, 5]),
        pullRequestFacts: new Map([
          [1, facts(true)],
          [2, facts(true)],
          [3, facts(undefined)],
          [4, facts(false)],
          [5, { labels: [], isFork: true }],
        ]),
      },
    );
    const create = async (maxForkEnvironments: number, environments: SyncInput['environments'] = []) => {
      const input = { listing: listed, maxForkEnvironments, environments };
      const plan = await planned({ ...input, spec: { sync: { newestTags: 10, rules: forks } } });
      return { created: plan.create.map(({ ref }) => ref.name), forksOverLimit: plan.forksOverLimit };
    };

    test('to the number for each repository, and no others', async () => {
      expect(await create(3)).toEqual({ created: ['main', '1', '2', '3', '4', '5'], forksOverLimit: 0 });
      expect(await create(1)).toEqual({ created: ['main', '1', '4', '5'], forksOverLimit: 2 });
      expect(await create(0)).toEqual({ created: ['main', '4', '5'], forksOverLimit: 3 });
    });

    test('counting those that have contents or are about to', async () => {
      const pullRequest = (number: number, status: Status, annotations: Record<string, string> = {}) =>
        environment(pull(number), { status, metadata: { annotations } });
      const there = [
        pullRequest(1, { activation: activation(true) }),
        pullRequest(2, {}, { 'coppice.dev/request-create': 'now' }),
        pullRequest(4, { activation: activation(true) }),
        pullRequest(5, { activation: activation(false) }),
      ];
      expect(await create(3, there)).toEqual({ created: ['main', '3'], forksOverLimit: 0 });
      expect(await create(2, there)).toEqual({ created: ['main'], forksOverLimit: 1 });
    });
  });

  test('removes the environment of a rule with its ref, also before a commit was read', async () => {
    const environments = [environment(branch('gone'), { status: { activation: activation(true, true) } })];
    expect((await planned({ environments })).remove).toMatchObject([{ what: 'object' }]);
  });

  test('creates nothing without a rule', async () => {
    expect(await created({ spec: { sync: { newestTags: 10, rules: [] } } })).toEqual([]);
  });

  test('creates nothing in a dry run, and counts what it would create', async () => {
    const environments = [environment(branch('main')), environment(branch('gone'))];
    const plan = await planned({ environments, spec: { sync: { newestTags: 10, dryRun: true } } });
    expect(plan).toMatchObject({ create: [], waiting: [], withheld: 3, remove: [{ what: 'object' }] });
    expect((await planned()).withheld).toBeUndefined();
  });
});
