import { describe, expect, test } from '@jest/globals';
import type { Environment } from '../../../crds/environment.ts';
import type { Repository } from '../../../crds/repository.ts';
import { requestAnnotation, requestedApproval } from '../../../crds/requests.ts';
import { ApiError } from '../../../kubernetes/api-error.ts';
import { Waiting } from '../../shared/errors.ts';
import { HostBusyError, SourceRefusedError } from '../../source/errors.ts';
import type { WrittenComment } from '../../source/hosts/host.ts';
import { CommentApprovals, hasNewComments } from './comment-approvals.ts';

const [waiting, other] = ['a'.repeat(40), 'b'.repeat(40)];
const noted = { 'coppice.dev/approval-comment-7-12': 'now/id/4711' };

function repository(annotations: Record<string, string> = noted): Repository {
  return {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Repository',
    metadata: { namespace: 'group-acme', name: 'shop', uid: 'u', resourceVersion: '5', annotations },
    spec: { type: 'ownerhost', ownerhost: { owner: 'acme', repo: 'shop', credentialsSecret: 's' } },
  };
}

function environment(name: string, number: string, waitingCommit?: string): Environment {
  return {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Environment',
    metadata: { namespace: 'group-acme', name, uid: name },
    spec: { repository: 'shop', gitRef: { name: number, type: 'pull request' }, active: true, buildOnCreate: true },
    status: { approval: { ...(waitingCommit !== undefined && { waitingCommit }) } },
  };
}

const command: WrittenComment = { body: `/coppice approve ${waiting}`, author: 'ann', canWrite: true };

interface World {
  comment?: WrittenComment | undefined;
  fail?: Error;
  environments?: Environment[];
  /** Why removing the record fails. */
  conflict?: Error;
  repositoryId?: string;
}

/** Returns what is approved, what is removed and what is asked when the comments of this Repository are handled. */
async function handle(world: World, object = repository()) {
  const approved: [string, unknown][] = [];
  const removed: unknown[] = [];
  const asked: string[] = [];
  const warned: string[] = [];
  const host = {
    webUrl: 'https://git.example/acme/shop',
    access: { origin: 'https://git.example/acme/shop.git' },
    repositoryId: () => Promise.resolve(world.repositoryId ?? '1'),
    writtenComment: (number: number, id: string) => {
      asked.push(`${number} ${id}`);
      return world.fail ? Promise.reject(world.fail) : Promise.resolve(world.comment);
    },
  };
  const client = {
    patch: (
      type: { kind: string },
      at: { name: string },
      patch: { metadata: { annotations: Record<string, string> } },
    ) => {
      const { annotations } = patch.metadata;
      if (type.kind === 'Environment') {
        approved.push([at.name, requestedApproval(annotations[requestAnnotation('approve')] ?? '')]);
      } else if (world.conflict) return Promise.reject(world.conflict);
      else removed.push(annotations);
      return Promise.resolve({ metadata: {} });
    },
  };
  const all = world.environments ?? [environment('shop-pr-7', '7', waiting)];
  const approvals = new CommentApprovals({
    client: client as never,
    repositories: { get: () => object },
    environments: { byIndex: () => all, observe: () => undefined },
    hosts: { of: () => Promise.resolve(host as never) },
    logger: { warn: (_fields: object, message: string) => void warned.push(message) } as never,
    now: () => new Date('2026-01-01T00:00:00Z'),
  });
  const result = await approvals.reconcile('group-acme/shop');
  return { approved, removed, asked, warned, result };
}

const gone = [{ 'coppice.dev/approval-comment-7-12': null }];

test('approves the commit as its author in all environments of the pull request that wait for it', async () => {
  const environments = [
    environment('shop-pr-7', '7', waiting),
    environment('shop-pr-7-clone', '7', waiting),
    environment('shop-pr-7-later', '7', other),
    environment('shop-pr-8', '8', waiting),
    environment('shop-pr-7-built', '7'),
  ];
  const { approved, removed, asked } = await handle({ comment: command, environments });
  const approval = { commit: waiting, who: 'ann at git.example' };
  expect(approved).toEqual([
    ['shop-pr-7', approval],
    ['shop-pr-7-clone', approval],
  ]);
  expect([removed, asked]).toEqual([gone, ['7 4711']]);
});

describe('approves nothing', () => {
  test.each<[string, World]>([
    ['for an author who cannot write', { comment: { ...command, canWrite: false } }],
    ['if the host has no such comment, or reports no permissions', { comment: undefined }],
    ['if the comment was changed to another text', { comment: { ...command, body: `> ${command.body}` } }],
    ['of another commit', { comment: { ...command, body: `/coppice approve ${other}` } }],
    ['where no commit waits', { comment: command, environments: [environment('shop-pr-7', '7')] }],
  ])('%s', async (_why, world) => {
    const { approved, removed } = await handle(world);
    expect([approved, removed]).toEqual([[], gone]);
  });

  test('and reports why, if the token cannot ask', async () => {
    const { approved, removed, warned } = await handle({ fail: new SourceRefusedError('Forbidden', 'no') });
    expect([approved, removed]).toEqual([[], gone]);
    expect(warned).toHaveLength(1);
  });

  test('at a repository that took over the name', async () => {
    const object = repository();
    object.status = { hostRepository: { origin: 'https://git.example/acme/shop.git', id: '1' } };
    const { approved, asked, warned } = await handle({ comment: command, repositoryId: '2' }, object);
    expect([approved, asked, warned.length]).toEqual([[], [], 1]);
  });
});

test('keeps what it could not ask about', async () => {
  await expect(handle({ fail: new HostBusyError('busy', 5000) })).rejects.toBeInstanceOf(Waiting);
});

test('handles a Repository that has changed meanwhile again', async () => {
  const conflict = new ApiError('PATCH', 409, 'Conflict', 'changed');
  const { result } = await handle({ comment: command, conflict });
  expect(result).toEqual({ requeueAfterMs: 500 });
});

test('does nothing without recorded comments', async () => {
  expect(await handle({ comment: command }, repository({}))).toMatchObject({ approved: [], removed: [], asked: [] });
});

test('notices new comments only', () => {
  const later = { 'coppice.dev/approval-comment-7-12': 'later/id/4712' };
  expect([
    hasNewComments(repository(), undefined),
    hasNewComments(repository(), repository()),
    hasNewComments(repository(later), repository()),
    hasNewComments(repository({}), repository()),
    hasNewComments(repository({ ...noted, other: 'x' }), repository()),
  ]).toEqual([true, false, true, false, false]);
});
