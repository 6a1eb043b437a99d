import { expect, test } from '@jest/globals';
import { installationId } from './installation.ts';

test('reads the UID of the release’s namespace once, and again after a failure', async () => {
  let requests = 0;
  const get = (_type: unknown, { name }: { name: string }) => {
    requests += 1;
    if (requests === 1) return Promise.reject(new Error('unreachable'));
    return Promise.resolve({ metadata: { name, uid: `uid of ${name}` } });
  };
  const id = installationId({ get } as never, 'coppice-system');
  await expect(id()).rejects.toThrow('unreachable');
  expect([await id(), await id(), requests]).toEqual(['uid of coppice-system', 'uid of coppice-system', 2]);
});
