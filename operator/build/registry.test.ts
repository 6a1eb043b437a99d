import { describe, expect, test } from '@jest/globals';
import { RegistryClient } from './registry.ts';

interface Seen {
  url: string;
  authorization: string | undefined;
}

function registry(answers: Response[], insecure = false) {
  const seen: Seen[] = [];
  const client = new RegistryClient({
    address: 'registry.example.com:5000',
    insecure,
    username: 'me',
    password: 'secret',
    fetch: (url, init) => {
      const headers = init?.headers as Record<string, string>;
      seen.push({ url: url instanceof Request ? url.url : url.toString(), authorization: headers['authorization'] });
      const answer = answers.shift();
      return answer ? Promise.resolve(answer) : Promise.reject(new Error('no more answers'));
    },
  });
  return { client, seen };
}

const manifest = { layers: [{ digest: 'sha256:l1', size: 7 }] };
const found = () => Response.json(manifest, { headers: { 'docker-content-digest': 'sha256:d' } });
const basic = `Basic ${Buffer.from('me:secret').toString('base64')}`;

describe('find', () => {
  test('gives digest and layers', async () => {
    const { client, seen } = registry([found()], true);
    expect(await client.find('registry.example.com:5000/acme/shop/web', 't1')).toEqual({
      digest: 'sha256:d',
      layers: [{ digest: 'sha256:l1', sizeBytes: 7 }],
    });
    expect(seen).toEqual([
      { url: 'http://registry.example.com:5000/v2/acme/shop/web/manifests/t1', authorization: basic },
    ]);
  });

  test('gives undefined for what is not there', async () => {
    const { client } = registry([new Response('', { status: 404 })]);
    expect(await client.find('registry.example.com:5000/a/b/c', 't1')).toBeUndefined();
  });

  test('gets a token where the registry asks for one', async () => {
    const challenge = 'Bearer realm="https://auth.example.com/token",service="registry"';
    const { client, seen } = registry([
      new Response('', { status: 401, headers: { 'www-authenticate': challenge } }),
      Response.json({ token: 'granted' }),
      found(),
    ]);
    await client.find('registry.example.com:5000/a/b/c', 't1');
    expect(seen[1]).toEqual({
      url: 'https://auth.example.com/token?service=registry&scope=repository%3Aa%2Fb%2Fc%3Apull',
      authorization: basic,
    });
    expect(seen[2]?.authorization).toBe('Bearer granted');
  });

  test.each([500, 401, 403])('an answer %s is an error', async (status) => {
    const { client } = registry([new Response('', { status })]);
    await expect(client.find('registry.example.com:5000/a/b/c', 't1')).rejects.toThrow(String(status));
  });

  test('so is none', async () => {
    const { client } = registry([]);
    await expect(client.find('registry.example.com:5000/a/b/c', 't1')).rejects.toThrow(/did not answer/);
  });
});
