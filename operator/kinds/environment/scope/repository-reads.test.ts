import { expect, test } from '@jest/globals';
import type { GitRef } from '../../../../crds/git-ref.ts';
import { SourceRefusedError } from '../../../source/errors.ts';
import type { RepositoryConfiguration } from '../../repository/configuration.ts';
import { RepositoryReads } from './repository-reads.ts';

interface Given {
  type?: GitRef['type'];
  /** What the status records. */
  fromFork: boolean | undefined;
  /** What the Git host answers. */
  isFork: boolean | undefined;
}

/** Returns the reads of a ref of a repository that another one has replaced. */
function readsOfReplaced({ type = 'pull request', fromFork, isFork }: Given): RepositoryReads {
  const replaced = new SourceRefusedError('RepositoryReplaced', 'another repository took over the name');
  const configuration = {
    host: { access: {}, pullRequest: () => Promise.resolve({ isFork, sourceBranch: 'topic', location: {} }) },
    confirmRepository: () => Promise.reject(replaced),
  } as unknown as RepositoryConfiguration;
  const other = () => Promise.reject(new Error('another repository is read'));
  return new RepositoryReads(() => Promise.resolve(configuration), { gitRef: { name: '7', type }, fromFork }, other);
}

test.each([true, undefined])(
  'does not trust a pull request of a repository that took over the name, fromFork %j before',
  async (fromFork) => {
    const reads = readsOfReplaced({ fromFork, isFork: false });
    await expect(reads.location()).rejects.toMatchObject({ reason: 'RepositoryReplaced' });
    expect([reads.fromFork, reads.sourceBranch]).toEqual([undefined, undefined]);
  },
);

test.each<Given>([
  { fromFork: false, isFork: false },
  { fromFork: true, isFork: true },
  { fromFork: false, isFork: true },
  { fromFork: undefined, isFork: undefined },
])('does not ask whose the repository is if trust does not grow: %j', async (given) => {
  const reads = readsOfReplaced(given);
  await reads.location();
  expect(reads.fromFork).toBe(given.isFork);
});

test('does not ask whose the repository is to locate a branch', async () => {
  await readsOfReplaced({ type: 'branch', fromFork: undefined, isFork: false }).location();
});
