import { expect, test } from '@jest/globals';
import { RegistrySession } from './session.ts';
import { fakeSend } from './testing/fake-send.ts';

const realm = 'https://auth.example.com/token';

function session(answer: unknown) {
  const { send } = fakeSend((asked, { headers }) => {
    if (asked.startsWith(`GET ${realm}`)) return { body: answer };
    if (headers['authorization'] === 'Bearer t') return { status: 200 };
    return { status: 401, headers: { 'www-authenticate': `Bearer realm="${realm}",service="x"` } };
  });
  return new RegistrySession({ origin: 'https://registry.example.com', login: { credentials: () => undefined }, send });
}

const request = { method: 'HEAD', path: 'a/manifests/1', scope: 'repository:a:pull' } as const;

test('requests a token where the registry says', async () => {
  await expect(session({ token: 't' }).request(request)).resolves.toMatchObject({ status: 200 });
});

test.each([
  ['many objects', `{"token":"t","a":[${'{},'.repeat(30_000)}{}]}`],
  ['deep ones', `{"token":"t","a":${'['.repeat(40_000)}${']'.repeat(40_000)}}`],
])('rejects a response without a valid token: %s', async (_what, answer) => {
  await expect(session(answer).request(request)).rejects.toThrow(/token service returned too much/);
});

test('reads a long challenge without a token service in bounded time', async () => {
  const challenge = `Bearer ${'a'.repeat(200_000)}`;
  const { send } = fakeSend(() => ({ status: 401, headers: { 'www-authenticate': challenge } }));
  const origin = 'https://registry.example.com';
  const hostile = new RegistrySession({ origin, login: { credentials: () => undefined }, send });
  const { user } = process.cpuUsage();
  await expect(hostile.request(request)).rejects.toThrow(/no valid token URL \(realm\)/);
  expect(process.cpuUsage().user - user).toBeLessThan(2_000_000);
});

test('requests no token if it has its own', async () => {
  const { send, seen } = fakeSend(() => ({ status: 200 }));
  const login = { token: (scope: string) => Promise.resolve(`for ${scope}`) };
  await new RegistrySession({ origin: 'https://registry.example.com', login, send }).request(request);
  expect(seen).toEqual([
    { asked: 'HEAD https://registry.example.com/v2/a/manifests/1', authorization: 'Bearer for repository:a:pull' },
  ]);
});
