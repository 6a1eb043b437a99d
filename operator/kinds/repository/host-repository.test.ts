import { expect, test } from '@jest/globals';
import { sameHostRepository } from './host-repository.ts';

const origin = 'https://git.example/acme/shop.git';
const hostWith = (id: string | undefined) => ({
  access: { origin, credentials: undefined },
  repositoryId: () => Promise.resolve(id),
});

test.each([
  ['nothing', undefined],
  ['the same', { origin, id: '7' }],
  ['one that another spec named', { origin: 'https://git.example/acme/api.git', id: '6' }],
])('where %s was found before, it is as it is', async (_, hostRepository) => {
  const status = hostRepository && { hostRepository };
  expect(await sameHostRepository(status, hostWith('7'))).toEqual({ origin, id: '7' });
});

test('another one under the same name is for the user to decide on', async () => {
  const found = sameHostRepository({ hostRepository: { origin, id: '6' } }, hostWith('7'));
  await expect(found).rejects.toMatchObject({
    reason: 'RepositoryReplaced',
    message: expect.stringContaining('create a new one'),
  });
});

test('a host without ids reports none', async () => {
  expect(await sameHostRepository({ hostRepository: { origin, id: '6' } }, hostWith(undefined))).toBeUndefined();
});
