import { describe, expect, test } from '@jest/globals';
import type { Environment, EnvironmentStatus } from '../../../crds/environment.ts';
import type { BuildStatus } from '../../../crds/environment-build.ts';
import { sampleActivation } from '../../../crds/testing/activation.ts';
import { dueFeedback } from './due.ts';

const apiUrl = new URL('https://coppice.example.org');
const logs = 'https://coppice.example.org/environments/acme.shop-7';
const weburl = 'https://shop-7--acme.env.example.com/';
const activation = sampleActivation();
const startedAt = '2026-01-01T00:00:10.000Z';

function build(result: BuildStatus['result'], rest: Partial<BuildStatus> = {}): BuildStatus {
  return { number: 2, result, commit: 'c2', startedAt, ...rest };
}

function environment(
  status: EnvironmentStatus,
  { type = 'branch', deleted = false }: { type?: 'branch' | 'tag' | 'pull request'; deleted?: boolean } = {},
): Environment {
  return {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Environment',
    metadata: {
      name: 'shop-7',
      namespace: 'group-acme',
      generation: 1,
      ...(deleted && { deletionTimestamp: '2026-01-02T00:00:00Z' }),
    },
    spec: { repository: 'shop', gitRef: { name: '7', type }, active: true, buildOnCreate: true },
    status: { state: 'building', activation, webURL: weburl, ...status },
  };
}

/** Returns the due commit statuses in short form. */
function statuses(object: Environment): string[] {
  return dueFeedback(object, [object], apiUrl).flatMap((step) =>
    step.kind === 'status' ? [`${step.commit} ${step.status.state}: ${step.status.description}`] : [],
  );
}

/** Returns the due comment. */
function comment(object: Environment): string | undefined {
  return dueFeedback(object, [object], apiUrl).flatMap((step) => (step.kind === 'comment' ? [step.body] : []))[0];
}

/** Returns the environment after everything that is due was reported. */
function reported(object: Environment): Environment {
  const feedback = { ...object.status?.feedback };
  for (const step of dueFeedback(object, [object], apiUrl)) {
    if (step.kind === 'status')
      Object.assign(feedback, { commit: step.commit, state: step.status.state, status: step.hash });
    else Object.assign(feedback, { comment: step.hash, commentId: '9' });
  }
  return { ...object, status: { ...object.status, feedback } };
}

const pending = { commit: 'c1', state: 'pending', status: 'as it was' } as const;

describe('a commit status', () => {
  test.each<[string, EnvironmentStatus, string[]]>([
    ['new and not built', { state: 'created' }, []],
    ['empty', { state: 'empty' }, []],
    ['a build whose commit is not known yet', { build: build('running', { commit: undefined }) }, []],
    ['… while another commit is waited for', { build: build('running', { commit: undefined }), feedback: pending }, []],
    ['a build under way', { build: build('running') }, ['c2 pending: build 2 is under way']],
    [
      'a build that waits',
      { build: build('running', { message: 'waiting for the image a:c2 of web' }) },
      ['c2 pending: build 2: waiting for the image a:c2 of web'],
    ],
    [
      'a build that became ready',
      { state: 'built', build: build('succeeded', { message: 'the only service is running' }) },
      ['c2 success: build 2: the only service is running'],
    ],
    [
      'a build that failed',
      { state: 'created', build: build('failed', { message: 'web: exit code 1\nnpm ERR!' }) },
      ['c2 failure: build 2 failed: web: exit code 1 npm ERR!'],
    ],
    [
      'a rollout that failed, over a good version',
      {
        state: 'built',
        deployed: build('succeeded', { number: 1, commit: 'c1' }),
        build: build('failed', { message: 'not ready after 300 s: web: crash' }),
      },
      ['c2 failure: build 2 failed: not ready after 300 s: web: crash'],
    ],
    [
      'superseded by another commit',
      { build: build('running'), feedback: pending },
      ['c1 failure: superseded: the ref has moved on to c2', 'c2 pending: build 2 is under way'],
    ],
    [
      'a commit of a fork that waits for an approval',
      { state: 'empty', approval: { waitingCommit: 'c3' } },
      ['c3 pending: waits for a member to approve this commit of a fork'],
    ],
    [
      '… over a build that became ready meanwhile',
      {
        ...{ state: 'built', build: build('succeeded', { message: 'ok' }), approval: { waitingCommit: 'c3' } },
        feedback: { ...pending, commit: 'c2' },
      },
      ['c2 success: build 2: ok', 'c3 pending: waits for a member to approve this commit of a fork'],
    ],
    [
      '… and was followed by another one',
      { state: 'empty', approval: { waitingCommit: 'c3' }, feedback: pending },
      ['c1 failure: its contents were removed', 'c3 pending: waits for a member to approve this commit of a fork'],
    ],
    [
      '… during a build of the one before',
      { build: build('running'), approval: { waitingCommit: 'c3' } },
      ['c2 pending: build 2 is under way'],
    ],
    [
      'superseded for other variables, of the same commit',
      { build: build('running'), feedback: { ...pending, commit: 'c2' } },
      ['c2 pending: build 2 is under way'],
    ],
    [
      'cancelled, because the contents were deleted',
      {
        state: 'empty',
        activation: { ...activation, active: false, since: '2026-01-01T00:01:00.000Z' },
        build: build('cancelled', { message: 'the contents were deleted' }),
        feedback: { ...pending, commit: 'c2' },
      },
      ['c2 failure: build 2 was cancelled: the contents were deleted'],
    ],
    [
      'a build of former contents',
      { state: 'created', build: build('succeeded', { startedAt: '2025-12-31T00:00:00Z' }) },
      [],
    ],
    [
      'a failure before the commit was known, while another was waited for',
      { state: 'created', build: build('failed', { commit: undefined }), feedback: pending },
      ['c1 failure: its contents were removed'],
    ],
  ])('%s', (_what, status, expected) => {
    expect(statuses(environment(status))).toEqual(expected);
  });

  test('is set for a tag too, without a comment', () => {
    const tag = environment({ build: build('running') }, { type: 'tag' });
    expect(statuses(tag)).toEqual(['c2 pending: build 2 is under way']);
    expect(comment(tag)).toBeUndefined();
  });

  test('links to the page when it became ready, otherwise to the log', () => {
    const targets = (['running', 'succeeded', 'failed'] as const).map((result) => {
      const built = environment({ state: 'built', build: build(result) });
      const [step] = dueFeedback(built, [built], apiUrl);
      return step?.kind === 'status' && [step.status.context, step.status.targetUrl];
    });
    expect(targets).toEqual([
      ['coppice/acme.shop-7', `${logs}?build=2`],
      ['coppice/acme.shop-7', weburl],
      ['coppice/acme.shop-7', `${logs}?build=2`],
    ]);
  });

  test('differs from that of another group, whose environment has the same name', () => {
    const others = environment({ build: build('running') });
    others.metadata.namespace = 'group-globex';
    const contexts = [environment({ build: build('running') }), others].map((object) => {
      const [step] = dueFeedback(object, [object], apiUrl);
      return step?.kind === 'status' && step.status.context;
    });
    expect(contexts).toEqual(['coppice/acme.shop-7', 'coppice/globex.shop-7']);
  });

  test('of a deleted environment is not left pending', () => {
    const object = environment({ build: build('running'), feedback: { ...pending, commit: 'c2' } }, { deleted: true });
    expect(statuses(object)).toEqual(['c2 failure: its contents were removed']);
  });
});

describe('a comment', () => {
  const pullRequest = { type: 'pull request' } as const;
  const marker = '[//]: # (coppice acme.shop/7 at coppice.example.org)';
  const before = { comment: 'as it was', commentId: '9' };

  test.each<[string, EnvironmentStatus, string | undefined]>([
    ['nothing was built yet', { state: 'created' }, undefined],
    ['empty', { state: 'empty' }, undefined],
    ['empty again', { state: 'empty', feedback: before }, 'It has no contents now.'],
    ['not built again', { state: 'created', feedback: before }, 'It is not built.'],
    ['under way', { build: build('running') }, 'Build 2 of `c2` is under way.'],
    ['waiting', { build: build('running', { message: 'waiting for a:c2' }) }, 'waiting for a:c2'],
    [
      'under way over a good version',
      { build: build('running'), deployed: build('succeeded', { number: 1 }) },
      `Build 1 is deployed at <${weburl}>.`,
    ],
    ['up', { state: 'built', build: build('succeeded') }, `Build 2 of \`c2\` runs at <${weburl}>.`],
    [
      'up with another repository',
      {
        state: 'built',
        build: build('succeeded', { repositories: [{ name: 'backend', branch: 'a`@all', commit: 'b'.repeat(40) }] }),
      },
      'It includes backend at `bbbbbbbbbbbb` of `` a`@all ``.',
    ],
    [
      'failed',
      { state: 'created', build: build('failed', { message: '@all ``` <img>' }) },
      'Build 2 of `c2` failed:\n\n````text\n@all ``` <img>\n````',
    ],
  ])('%s', (_what, status, expected) => {
    const body = comment(environment(status, pullRequest));
    if (expected === undefined) expect(body).toBeUndefined();
    else {
      expect(body).toContain(expected);
      expect(body?.split('\n')).toContain(marker);
    }
  });

  test('reports a commit that waits for an approval, and how to approve it', () => {
    const message = 'commit c3 waits. Approve it with `x`';
    const conditions = [
      { type: 'Approved', status: 'False', reason: 'WaitingForApproval', message, lastTransitionTime: startedAt },
    ] as const;
    const waiting = { approval: { waitingCommit: 'c3' }, conditions: [...conditions] };
    const words = 'Commit c3 waits. Approve it with `x`. [Panel](https://coppice.example.org/environments/acme.shop-7)';
    expect(comment(environment({ state: 'empty', ...waiting }, pullRequest))).toContain(words);
    const over = comment(environment({ state: 'built', build: build('succeeded'), ...waiting }, pullRequest));
    expect(over).toContain(`Build 2 of \`c2\` runs at <${weburl}>.`);
    expect(over).toContain(words);
  });

  test('reports the deletion of the environment and, for a fork, what is withheld', () => {
    const deleted = environment({ state: 'built', build: build('succeeded'), feedback: before }, pullRequest);
    deleted.metadata.deletionTimestamp = '2026-01-02T00:00:00Z';
    expect(comment(deleted)).toContain('The environments of this pull request were removed.');
    const untrusted = { type: 'Trusted', status: 'False', reason: 'Fork', message: '', lastTransitionTime: startedAt };
    const fork = environment({ build: build('running'), conditions: [{ ...untrusted, status: 'False' }] }, pullRequest);
    expect(comment(fork)).toContain('without variables and credentials');
  });

  describe('for several environments of one pull request', () => {
    const named = (name: string, status: EnvironmentStatus, options = {}): Environment => {
      const object = environment(status, { ...pullRequest, ...options });
      return { ...object, metadata: { ...object.metadata, name } };
    };
    const commentsOf = (ofRef: Environment[]) =>
      ofRef.flatMap((one) =>
        dueFeedback(one, ofRef, apiUrl).flatMap((step) =>
          step.kind === 'comment' ? [{ by: one.metadata.name, id: step.location.id, body: step.body }] : [],
        ),
      );
    const up = { state: 'built', build: build('succeeded') } as const;

    test('is one, reports each by name, and is written by the first', () => {
      const first = named('shop-7', { state: 'created' });
      const clone = named('shop-7-clone', { build: build('failed', { message: 'no' }) });
      const [comment, ...more] = commentsOf([clone, first]);
      expect(more).toEqual([]);
      expect(comment?.by).toBe('shop-7');
      expect(comment?.body.match(/Environment [\w-]+|It is not built|failed/g)).toEqual([
        ...['Environment shop-7', 'It is not built'],
        ...['Environment shop-7-clone', 'failed'],
      ]);
      expect(comment?.body.trim().split('\n').at(-1)).toBe(marker);
      expect(commentsOf([first, clone])[0]?.body).toBe(comment?.body);
    });

    test('is written by the environment that wrote it before', () => {
      const clone = named('shop-7-clone', { ...up, feedback: before });
      expect(commentsOf([named('shop-7', up), clone])).toMatchObject([{ by: 'shop-7-clone', id: '9' }]);
    });

    test('moves to a remaining environment, and then reports only that', () => {
      const going = named('shop-7', { ...up, feedback: before }, { deleted: true });
      const [comment, ...more] = commentsOf([going, named('shop-7-clone', up)]);
      expect([comment?.by, comment?.id, more]).toEqual(['shop-7-clone', '9', []]);
      expect(comment?.body).not.toContain('Environment shop-7**');
    });

    test('ends when all are deleted', () => {
      const going = named('shop-7', { ...up, feedback: before }, { deleted: true });
      const other = named('shop-7-clone', up, { deleted: true });
      expect(commentsOf([other, going])).toMatchObject([{ by: 'shop-7', id: '9' }]);
      expect(commentsOf([other, going])[0]?.body).toContain('were removed');
    });

    test('stays within the limits of hosts', () => {
      const failed = { build: build('failed', { message: 'x'.repeat(4000) }) };
      const many = Array.from({ length: 60 }, (_, number) => named(`shop-7-${number}`, failed));
      const [comment] = commentsOf(many);
      expect(comment?.body.length).toBeLessThan(20_000);
      expect(comment?.body).toContain('And 40 more.');
    });
  });

  test('names the existing comment', () => {
    const object = environment({ build: build('running'), feedback: before }, pullRequest);
    const steps = dueFeedback(object, [object], apiUrl);
    expect(steps.find(({ kind }) => kind === 'comment')).toMatchObject({
      location: { pullRequest: 7, marker, id: '9' },
    });
  });
});

test.each(['running', 'succeeded', 'failed', 'cancelled', 'superseded'] as const)(
  'does not report again: %s',
  (result) => {
    const object = environment({ build: build(result), feedback: pending }, { type: 'pull request' });
    expect(dueFeedback(object, [object], apiUrl)).not.toEqual([]);
    expect(dueFeedback(reported(object), [reported(object)], apiUrl)).toEqual([]);
  },
);

test('reports a rebuild of the same commit again', () => {
  const first = reported(environment({ state: 'built', build: build('succeeded') }));
  const again = { ...first, status: { ...first.status, build: build('running', { number: 3 }) } };
  expect(statuses(again)).toEqual(['c2 pending: build 3 is under way']);
});
