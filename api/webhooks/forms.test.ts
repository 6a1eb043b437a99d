import { createHmac } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { RepositoryType } from '../../crds/repository-source.ts';
import { Invalid } from '../shared/errors.ts';
import type { RawDelivery } from './delivery.ts';
import { DELIVERY_FORMS } from './forms.ts';

function raw(headers: Record<string, string>, body: string | object = ''): RawDelivery {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { header: (name) => headers[name], body: Buffer.from(text) };
}

const everybody = "It's a Secret to Everybody";
/** GitHub's published example. */
const github = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
/** Atlassian's published example. */
const atlassian = 'sha256=a4771c39fbe90f317c7824e83ddef3caae9cb3d976c214ace1f2937e133263c9';
/** The published example of Standard Webhooks, of 2021-02-25T14:55:30Z. */
const standard = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  now: 1614265330_000,
  body: '{"test": 2432232314}',
  headers: {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  },
};
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
const sha1 = createHmac('sha1', everybody).update('Hello, World!').digest('hex');

describe('a signature', () => {
  test.each<[string, boolean, RepositoryType, Record<string, string>, string?, string?]>([
    ["GitHub's own example", true, 'ownerhost', { 'x-hub-signature-256': github }],
    ['the same at any server of the form', true, 'generic', { 'x-hub-signature-256': github }],
    ["Gitea's own header", true, 'generic', { 'x-gitea-signature': github.slice(7) }],
    ["Forgejo's own header", true, 'generic', { 'x-forgejo-signature': github.slice(7) }],
    ['another body', false, 'ownerhost', { 'x-hub-signature-256': github }, 'Hello, World?'],
    ['another secret', false, 'ownerhost', { 'x-hub-signature-256': github }, undefined, 'x'],
    ['SHA-1', false, 'ownerhost', { 'x-hub-signature': `sha1=${sha1}` }],
    ['SHA-1 as the other', false, 'ownerhost', { 'x-hub-signature-256': `sha1=${sha1}` }],
    [
      'a good one does not fix a bad one',
      false,
      'generic',
      { 'x-hub-signature-256': 'a', 'x-gitea-signature': github },
    ],
    ['none', false, 'ownerhost', {}],
    ['an empty one', false, 'ownerhost', { 'x-hub-signature-256': '' }],
    ['the secret itself', false, 'ownerhost', { 'x-hub-signature-256': everybody, 'x-gitlab-token': everybody }],
    ["Atlassian's own example", true, 'workspacehost', { 'x-hub-signature': atlassian }, 'Hello World!'],
    ['without', false, 'workspacehost', {}, 'Hello World!'],
    ['cut off', false, 'workspacehost', { 'x-hub-signature': atlassian.slice(0, -1) }, 'Hello World!'],
    ['the token', true, 'groupedhost', { 'x-gitlab-token': everybody }],
    ['a wrong token', false, 'groupedhost', { 'x-gitlab-token': everybody.toLowerCase() }],
    ['no token', false, 'groupedhost', {}],
    ["Standard Webhooks' own example", true, 'groupedhost', standard.headers, standard.body, standard.secret],
    ['another body', false, 'groupedhost', standard.headers, '{}', standard.secret],
    [
      'another id',
      false,
      'groupedhost',
      { ...standard.headers, 'webhook-id': 'msg_x' },
      standard.body,
      standard.secret,
    ],
    [
      'one of several',
      true,
      'groupedhost',
      { ...standard.headers, 'webhook-signature': `v1,AAAA ${standard.headers['webhook-signature']}` },
      standard.body,
      standard.secret,
    ],
    ['a password, with any user', true, 'cloudorg', { authorization: basic(`coppice:${everybody}`) }],
    ['a password without a user', true, 'cloudorg', { authorization: basic(`:${everybody}`) }],
    ['a header', true, 'cloudorg', { 'x-coppice-webhook-secret': everybody }],
    ['a wrong password', false, 'cloudorg', { authorization: basic('coppice:x') }],
    ['no password', false, 'cloudorg', { authorization: basic(everybody) }],
    ['a bearer', false, 'cloudorg', { authorization: `Bearer ${everybody}` }],
    ['nothing', false, 'cloudorg', {}],
  ])('is checked (%s): %s for %s', (_name, expected, type, headers, body = 'Hello, World!', secret = everybody) => {
    expect(DELIVERY_FORMS[type].isSigned(raw(headers, body), secret, standard.now)).toBe(expected);
  });

  test.each([
    [-301, false],
    [-299, true],
    [299, true],
    [301, false],
  ])('of %i s ago is %s', (seconds, expected) => {
    const { headers, body, secret, now } = standard;
    expect(DELIVERY_FORMS.groupedhost.isSigned(raw(headers, body), secret, now + seconds * 1000)).toBe(expected);
  });
});

const hub = (event: string) => ({ 'x-github-event': event, 'x-github-delivery': 'd-1' });
const lab = (event: string) => ({ 'x-gitlab-event': event, 'x-gitlab-event-uuid': 'd-1' });
const bucket = (event: string) => ({ 'x-event-key': event, 'x-request-uuid': 'd-1' });
const at = '2026-01-01T00:00:00Z';
const pull = (action: string, number = 7) => ({ action, number, pull_request: { number, updated_at: at }, sender: {} });
const opened = { number: 7, isOpen: true };
/** Returns a delivery about a pull request with every field that rules evaluate. */
const changed = (action: string, state = 'open') => ({
  ...pull(action),
  pull_request: {
    updated_at: at,
    state,
    draft: true,
    labels: [{ name: 'preview' }],
    base: { ref: 'main' },
    head: { ref: 'a' },
  },
});
const facts = { labels: ['preview'], targetBranch: 'main', sourceBranch: 'a', isDraft: true };
const form = { 'content-type': 'application/x-www-form-urlencoded' };

describe('a delivery requests a sync', () => {
  test.each<[RepositoryType, Record<string, string>, object | string, boolean, object?]>([
    ['ownerhost', hub('push'), { ref: 'refs/heads/main' }, true],
    ['ownerhost', hub('create'), {}, true],
    ['ownerhost', hub('delete'), {}, true],
    ['ownerhost', hub('ping'), { zen: 'x' }, false],
    ['ownerhost', hub('status'), {}, false],
    [
      'ownerhost',
      hub('issue_comment'),
      { action: 'deleted', issue: { number: 7 }, comment: { id: 1, body: '' } },
      false,
    ],
    ['ownerhost', {}, {}, false],
    ['ownerhost', hub('pull_request'), pull('opened'), true, opened],
    ['ownerhost', hub('pull_request'), pull('synchronize'), true, opened],
    ['generic', hub('pull_request'), pull('synchronized'), true, opened],
    ['generic', hub('pull_request'), pull('reopened'), true, opened],
    ['generic', hub('pull_request'), pull('closed'), true, { number: 7, isOpen: false }],
    ['generic', hub('pull_request'), pull('labeled'), false],
    ['ownerhost', hub('pull_request'), changed('labeled'), true, { ...opened, facts }],
    ['ownerhost', hub('pull_request'), changed('unlabeled'), true, { ...opened, facts }],
    ['ownerhost', hub('pull_request'), changed('converted_to_draft'), true, { ...opened, facts }],
    ['ownerhost', hub('pull_request'), changed('edited'), true, { ...opened, facts }],
    ['ownerhost', hub('pull_request'), changed('edited', 'closed'), false],
    ['ownerhost', hub('pull_request'), changed('assigned'), false],
    ['generic', hub('pull_request'), changed('label_updated'), true, { ...opened, facts }],
    ['generic', hub('pull_request'), changed('opened'), true, { ...opened, facts }],
    ['generic', hub('pull_request'), changed('closed', 'closed'), true, { number: 7, isOpen: false }],
    ['generic', { 'x-gitea-event': 'push' }, {}, true],
    ['generic', { 'x-forgejo-event': 'pull_request' }, pull('opened'), true, opened],
    [
      'generic',
      { ...hub('pull_request'), ...form },
      `payload=${encodeURIComponent(JSON.stringify(pull('opened')))}`,
      true,
      opened,
    ],
    ['groupedhost', lab('Push Hook'), { object_kind: 'push' }, true],
    ['groupedhost', lab('Tag Push Hook'), { object_kind: 'tag_push' }, true],
    ['groupedhost', lab('Merge Request Hook'), { object_attributes: { action: 'open', iid: 7 } }, true],
    ['groupedhost', lab('Merge Request Hook'), { object_attributes: { action: 'merge' } }, true],
    ['groupedhost', lab('Merge Request Hook'), { object_attributes: { action: 'approved' } }, false],
    ['groupedhost', lab('Merge Request Hook'), { object_attributes: {} }, false],
    [
      'groupedhost',
      lab('Note Hook'),
      { object_attributes: { id: 1, note: '', noteable_type: 'Issue', author_id: 1 } },
      false,
    ],
    ['groupedhost', lab('Pipeline Hook'), {}, false],
    ['cloudorg', {}, { id: 'd-1', eventType: 'git.push', resource: {} }, true],
    ['cloudorg', {}, { id: 'd-1', eventType: 'git.pullrequest.created' }, true],
    ['cloudorg', {}, { id: 'd-1', eventType: 'git.pullrequest.updated' }, true],
    ['cloudorg', {}, { id: 'd-1', eventType: 'git.pullrequest.merged' }, true],
    ['cloudorg', {}, { id: 'd-1', eventType: 'ms.vss-code.git-pullrequest-comment-event' }, false],
    ['workspacehost', bucket('repo:push'), { push: {} }, true],
    ['workspacehost', bucket('pullrequest:created'), {}, true],
    ['workspacehost', bucket('pullrequest:updated'), {}, true],
    ['workspacehost', bucket('pullrequest:fulfilled'), {}, true],
    ['workspacehost', bucket('pullrequest:rejected'), {}, true],
    ['workspacehost', bucket('repo:commit_status_updated'), {}, false],
    ['workspacehost', bucket('pullrequest:comment_created'), {}, false],
  ])('for %s %j %j: %s', (...[type, headers, body, asksForSync, pullRequest]) => {
    const delivery = DELIVERY_FORMS[type].read(raw(headers, body));
    expect(delivery.asksForSync).toBe(asksForSync);
    expect(delivery.pullRequest).toEqual(pullRequest);
    if (pullRequest) expect(delivery.pullRequestAt).toBe(Date.parse(at));
  });

  test.each<[RepositoryType, Record<string, string>, object | string]>([
    ['generic', hub('pull_request'), '{'],
    ['generic', hub('pull_request'), pull('opened', 0)],
    ['generic', hub('pull_request'), { action: 'opened', number: 'main' }],
    ['groupedhost', lab('Merge Request Hook'), '[]'],
    ['cloudorg', {}, ''],
    ['cloudorg', {}, { eventType: 5 }],
  ])('with %s %j %j cannot be read', (type, headers, body) => {
    expect(() => DELIVERY_FORMS[type].read(raw(headers, body))).toThrow(Invalid);
  });
});

describe('a comment that approves a commit', () => {
  const commit = 'a'.repeat(40);
  const command = `/coppice approve ${commit}`;
  const comment = (body: string, changes: object = {}) => ({
    ...{ action: 'created', issue: { number: 7, pull_request: {} }, comment: { id: 3, body, user: { id: 5 } } },
    ...changes,
  });
  const note = (text: string, changes: object = {}) => ({
    object_attributes: { id: 3, note: text, noteable_type: 'MergeRequest', author_id: 5, action: 'create', ...changes },
    merge_request: { iid: 7 },
  });
  const approval = { pullRequest: 7, comment: '3', author: '5', commit };

  test.each<[RepositoryType, Record<string, string>, object, object?]>([
    ['ownerhost', hub('issue_comment'), comment(command), approval],
    ['ownerhost', hub('issue_comment'), comment('looks good')],
    ['ownerhost', hub('issue_comment'), comment(command, { action: 'edited' })],
    ['ownerhost', hub('issue_comment'), comment(command, { issue: { number: 7 } })],
    ['ownerhost', hub('issue_comment'), comment(command, { issue: { number: 7, pull_request: null } })],
    ['generic', hub('issue_comment'), comment(command), approval],
    ['ownerhost', hub('issue_comment'), comment(command, { comment: { id: 3, body: command, user: null } })],
    ['groupedhost', lab('Note Hook'), note(command), approval],
    ['groupedhost', lab('Note Hook'), note('looks good')],
    ['groupedhost', lab('Note Hook'), note(command, { action: 'update' })],
    ['groupedhost', lab('Note Hook'), note(command, { noteable_type: 'Issue' })],
    ['workspacehost', bucket('pullrequest:comment_created'), comment(command)],
    ['cloudorg', {}, { eventType: 'ms.vss-code.git-pullrequest-comment-event', ...comment(command) }],
  ])('of %s %j %j', (...[type, headers, body, expected]) => {
    const delivery = DELIVERY_FORMS[type].read(raw(headers, body));
    expect([delivery.asksForSync, delivery.approval]).toEqual([false, expected]);
  });
});

describe('the IDs that identify repeated deliveries', () => {
  test.each<[RepositoryType, Record<string, string>, string | object, unknown]>([
    ['ownerhost', hub('push'), '{}', [expect.stringMatching(/^body /)]],
    ['generic', { 'x-gitea-event': 'push', 'x-gitea-delivery': 'd-2' }, '{}', [expect.stringMatching(/^body /)]],
    ['groupedhost', lab('Push Hook'), '{}', ['id d-1']],
    ['groupedhost', { ...lab('Push Hook'), 'webhook-id': 'd-3' }, '{}', ['id d-3']],
    ['groupedhost', { ...lab('Push Hook'), 'idempotency-key': 'd-4' }, '{}', ['id d-4']],
    ['cloudorg', {}, { id: 'd-5', eventType: 'git.push' }, ['id d-5']],
    ['workspacehost', bucket('repo:push'), '{}', [expect.stringMatching(/^body /)]],
  ])('%s %j', (type, headers, body, ids) => {
    expect(DELIVERY_FORMS[type].read(raw(headers, body)).ids).toEqual(ids);
  });

  test.each(['generic', 'workspacehost'] as const)('identify the same body under another ID: %s', (type) => {
    const idsOf = (id: string, body: string) =>
      DELIVERY_FORMS[type].read(raw({ 'x-github-delivery': id, 'x-request-uuid': id }, body)).ids;
    expect(idsOf('d-2', 'a')).toEqual(idsOf('d-1', 'a'));
    expect(idsOf('d-1', 'b')).not.toEqual(idsOf('d-1', 'a'));
  });

  test('expire soon where a push and its reversal look the same', () => {
    expect(DELIVERY_FORMS.workspacehost.read(raw(bucket('repo:push'))).knownForMs).toBe(300_000);
  });
});
