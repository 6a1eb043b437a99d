import { expect, test } from '@jest/globals';
import { confirmHostRepository, sameHostRepository } from './host-repository.ts';

const origin = 'https://git.example/acme/shop.git';
const hostWith = (id: string | undefined) => ({
  access: { origin, credentials: undefined },
  repositoryId: () => Promise.resolve(id),
});

test.each([
  ['nothing', undefined],
  ['the same', { origin, id: '7' }],
  ['one that another spec named', { origin: 'https://git.example/acme/api.git', id: '6' }],
])('accepts %s if it is as before', async (_, hostRepository) => {
  const status = hostRepository && { hostRepository };
  expect(await sameHostRepository(status, hostWith('7'))).toEqual({ origin, id: '7' });
});

test('asks the user about another repository under the same name', async () => {
  const found = sameHostRepository({ hostRepository: { origin, id: '6' } }, hostWith('7'));
  await expect(found).rejects.toMatchObject({
    reason: 'RepositoryReplaced',
    message: expect.stringContaining('create a new one'),
  });
});

test('reports nothing for a host without IDs', async () => {
  expect(await sameHostRepository({ hostRepository: { origin, id: '6' } }, hostWith(undefined))).toBeUndefined();
});

test('refuses a repository that took over the name before its code is used', async () => {
  const found = confirmHostRepository({ hostRepository: { origin, id: '6' } }, hostWith('7'));
  await expect(found).rejects.toMatchObject({ reason: 'RepositoryReplaced' });
  await expect(confirmHostRepository({ hostRepository: { origin, id: '7' } }, hostWith('7'))).resolves.toBeUndefined();
});

test.each([
  ['nothing', undefined],
  ['one that another spec named', { origin: 'https://git.example/acme/api.git', id: '6' }],
])('does not ask the host before code is used if %s was found', async (_, hostRepository) => {
  const host = { ...hostWith('7'), repositoryId: () => Promise.reject(new Error('asked')) };
  await expect(confirmHostRepository(hostRepository && { hostRepository }, host)).resolves.toBeUndefined();
});
