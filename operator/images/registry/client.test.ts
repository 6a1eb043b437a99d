import { describe, expect, test } from '@jest/globals';
import { RegistryClient } from './client.ts';
import { fakeSend, type FakeAnswer } from './testing/fake-send.ts';

const basic = `Basic ${Buffer.from('me:secret').toString('base64')}`;

function registry(
  answers: (asked: string, authorization: string | undefined) => FakeAnswer | undefined,
  address = 'r.example.com:5000',
) {
  const { send, seen } = fakeSend((asked, { headers }) => answers(asked, headers['authorization']));
  const credentials = () => ({ username: 'me', password: 'secret' });
  return { client: new RegistryClient({ address, insecure: true, login: { credentials }, send }), seen };
}

const image: FakeAnswer = {
  headers: { 'docker-content-digest': 'sha256:d' },
  body: { layers: [{ digest: 'sha256:l1', size: 7 }], annotations: { a: '1' } },
};

describe('below a path of a host', () => {
  const address = 'ghcr.io/acme/coppice';

  test('requests everything below the path, with scopes of the full names', async () => {
    const { client, seen } = registry((asked, authorization) => {
      if (asked.includes('token')) return { body: { token: 'granted' } };
      if (authorization !== 'Bearer granted') {
        return {
          status: 401,
          headers: { 'www-authenticate': 'Bearer realm="https://ghcr.io/token",service="ghcr.io"' },
        };
      }
      if (asked.includes('tags')) return { body: { tags: ['t1'] } };
      return asked.startsWith('DELETE') ? { status: 202 } : image;
    }, address);
    await client.find('shop/web', 't1');
    await client.tags('shop/web');
    await client.delete('shop/web', 'sha256:d');
    const asked = [...new Set(seen.map((one) => one.asked.replace(/.*scope=/, 'scope ')))];
    expect(asked.map((one) => decodeURIComponent(one))).toEqual([
      'GET http://ghcr.io/v2/acme/coppice/shop/web/manifests/t1',
      'scope repository:acme/coppice/shop/web:pull',
      'GET http://ghcr.io/v2/acme/coppice/shop/web/tags/list?n=1000',
      'DELETE http://ghcr.io/v2/acme/coppice/shop/web/manifests/sha256:d',
      'scope repository:acme/coppice/shop/web:pull,delete',
    ]);
  });

  test('lists only repositories below the path, by their names there', async () => {
    const repositories = ['acme/coppice/g/r/web', 'acme/coppice-base', 'other/x'];
    const { client } = registry(() => ({ body: { repositories } }), address);
    expect(await client.repositories()).toEqual(['g/r/web']);
  });
});

test("uses the host of Docker Hub's API, which differs from that of its images", async () => {
  const { client, seen } = registry(() => image, 'docker.io/acme');
  await client.find('g.r.web', 't1');
  expect(seen[0]?.asked).toBe('GET http://registry-1.docker.io/v2/acme/g.r.web/manifests/t1');
});

test('uses replaced credentials at once', async () => {
  const words = ['first', 'second'].values();
  const { send, seen } = fakeSend(() => image);
  const credentials = () => ({ username: 'me', password: words.next().value ?? '' });
  const client = new RegistryClient({ address: 'r', insecure: true, login: { credentials }, send });
  await client.find('a/b/c', 't1');
  await client.find('a/b/c', 't1');
  expect(
    seen.map(({ authorization = '' }) => Buffer.from(authorization.slice('Basic '.length), 'base64').toString()),
  ).toEqual(['me:first', 'me:second']);
});

describe('find', () => {
  test('returns digest, layers and annotations', async () => {
    const { client, seen } = registry(() => image);
    expect(await client.find('acme/shop/web', 't1')).toEqual({
      digest: 'sha256:d',
      layers: [{ digest: 'sha256:l1', sizeBytes: 7 }],
      annotations: { a: '1' },
    });
    expect(seen).toEqual([
      { asked: 'GET http://r.example.com:5000/v2/acme/shop/web/manifests/t1', authorization: basic },
    ]);
  });

  test('returns undefined for a missing image', async () => {
    expect(await registry(() => ({ status: 404 })).client.find('a/b/c', 't1')).toBeUndefined();
  });

  test.each([500, 401, 403])('throws if the response %s', async (status) => {
    await expect(registry(() => ({ status })).client.find('a/b/c', 't1')).rejects.toThrow(String(status));
  });

  test('throws if there is no response', async () => {
    await expect(registry(() => undefined).client.find('a/b/c', 't1')).rejects.toThrow(/did not respond/);
  });

  test('requests a token if the registry demands one, once for what it covers', async () => {
    const { client, seen } = registry((asked, authorization) => {
      if (asked.includes('auth.example.com')) return { body: { token: 'granted', expires_in: 300 } };
      if (authorization === 'Bearer granted') return image;
      const challenge = 'Bearer realm="https://auth.example.com/token",service="registry"';
      return { status: 401, headers: { 'www-authenticate': challenge } };
    });
    await client.find('a/b/c', 't1');
    await client.find('a/b/c', 't2');
    expect(seen.map(({ asked }) => asked)).toEqual([
      'GET http://r.example.com:5000/v2/a/b/c/manifests/t1',
      'GET https://auth.example.com/token?service=registry&scope=repository%3Aa%2Fb%2Fc%3Apull',
      'GET http://r.example.com:5000/v2/a/b/c/manifests/t1',
      'GET http://r.example.com:5000/v2/a/b/c/manifests/t2',
    ]);
    expect(seen[1]?.authorization).toBe(basic);
  });
});

describe('lists', () => {
  test('are read over all pages', async () => {
    const { client } = registry((asked) =>
      asked.endsWith('_catalog?n=1000')
        ? { body: { repositories: ['a/b/c'] }, headers: { link: '</v2/_catalog?last=a%2Fb%2Fc&n=1000>; rel="next"' } }
        : { body: { repositories: ['a/b/d'] } },
    );
    expect(await client.repositories()).toEqual(['a/b/c', 'a/b/d']);
  });

  test.each([401, 403, 404, 405])('are undefined for a registry that answers %s', async (status) => {
    expect(await registry(() => ({ status })).client.repositories()).toBeUndefined();
  });

  test('are empty for a repository without tags', async () => {
    expect(await registry(() => ({ body: { tags: null } })).client.tags('a/b/c')).toEqual([]);
    expect(await registry(() => ({ status: 404 })).client.tags('a/b/c')).toEqual([]);
  });
});

test.each([202, 404])('treats a deletion that is answered with %s as done', async (status) => {
  const { client, seen } = registry(() => ({ status }));
  await client.delete('a/b/c', 'sha256:d');
  expect(seen[0]?.asked).toBe('DELETE http://r.example.com:5000/v2/a/b/c/manifests/sha256:d');
});

test('reports a registry that permits no deletion', async () => {
  await expect(registry(() => ({ status: 405 })).client.delete('a/b/c', 'sha256:d')).rejects.toThrow('405');
});
