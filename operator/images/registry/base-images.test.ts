import { expect, test } from '@jest/globals';
import type { Send } from '../../source/network/send.ts';
import { BaseImages } from './base-images.ts';
import { fakeSend, type FakeAnswer } from './testing/fake-send.ts';

const digest = `sha256:${'a'.repeat(64)}`;
const there: FakeAnswer = { headers: { 'docker-content-digest': digest } };
const node = 'docker.io/library/node:24';

function baseImages(
  answers: Record<string, FakeAnswer>,
  mirrors: Record<string, string[]> = {},
  insecure: string[] = [],
) {
  const { send, seen } = fakeSend((asked) => answers[asked]);
  return { images: new BaseImages({ send, mirrors, insecure: new Set(insecure) }), seen };
}

test("requests images of Docker Hub from its API's host", async () => {
  const { images } = baseImages({ 'HEAD https://registry-1.docker.io/v2/library/node/manifests/24': there });
  expect(await images.digests([node, node], new Map())).toEqual({
    digests: new Map([[node, digest]]),
    failures: new Map(),
    unasked: 0,
  });
});

test("requests them from a mirror instead, with the mirror's credentials", async () => {
  const { images, seen } = baseImages(
    { 'HEAD http://mirror:5000/v2/docker.io/library/node/manifests/24': there },
    { 'docker.io': ['mirror:5000/docker.io'] },
    ['mirror:5000'],
  );
  const auths = new Map([
    ['mirror:5000', { username: 'a', password: 'b' }],
    ['docker.io', { username: 'c', password: 'd' }],
  ]);
  expect((await images.digests([node], auths)).digests.get(node)).toBe(digest);
  expect(seen).toEqual([expect.objectContaining({ authorization: `Basic ${Buffer.from('a:b').toString('base64')}` })]);
});

test('requests them from the registry if the mirror does not have them', async () => {
  const { images, seen } = baseImages(
    {
      'HEAD https://mirror/v2/library/node/manifests/24': { status: 404 },
      'HEAD https://registry-1.docker.io/v2/library/node/manifests/24': there,
    },
    { 'docker.io': ['mirror'] },
  );
  expect((await images.digests([node], new Map())).digests.get(node)).toBe(digest);
  expect(seen).toHaveLength(2);
});

test('does not request a name with a digest', async () => {
  const { images, seen } = baseImages({});
  expect(await images.digests([`${node}@${digest}`], new Map())).toEqual({
    digests: new Map(),
    failures: new Map(),
    unasked: 0,
  });
  expect(seen).toEqual([]);
});

test.each<[string, FakeAnswer | undefined, RegExp]>([
  ['no answer', undefined, /registry-1.docker.io did not respond: connect ECONNREFUSED/],
  ['a refusal', { status: 403 }, /status 403 for docker.io\/library\/node:24/],
  ['no digest', {}, /returned no digest/],
  ['an invalid digest', { headers: { 'docker-content-digest': 'sha256:x","y' } }, /returned no digest/],
])('reports %s, and still resolves the others', async (_what, answer, words) => {
  const { images } = baseImages({
    ...(answer && { 'HEAD https://registry-1.docker.io/v2/library/node/manifests/24': answer }),
    'HEAD https://ghcr.io/v2/a/b/manifests/1': there,
  });
  const { digests, failures } = await images.digests([node, 'ghcr.io/a/b:1'], new Map());
  expect(digests).toEqual(new Map([['ghcr.io/a/b:1', digest]]));
  expect(failures.get(node)).toMatch(words);
});

const many = Array.from({ length: 2000 }, (_, n) => `registry.example.com/a:${n}`);

test('requests a limited number of thousands of names, and few at once', async () => {
  let running = 0;
  let max = 0;
  const { send, seen } = fakeSend(() => there);
  const slowly: Send = async (request) => {
    max = Math.max(max, (running += 1));
    await new Promise((resolve) => setTimeout(resolve, 1));
    running -= 1;
    return send(request);
  };
  const images = new BaseImages({ send: slowly, mirrors: {}, insecure: new Set() });
  const { digests, failures, unasked } = await images.digests(many, new Map());
  expect([...digests.keys()].sort()).toEqual(many.slice(0, 50).sort());
  expect([failures.size, unasked, seen.length, max]).toEqual([0, 1950, 50, 4]);
});

test('waits a limited time for slow registries, and then requests no other name', async () => {
  let nowMs = 0;
  const { send, seen } = fakeSend(() => there);
  const slowly: Send = (request) => {
    nowMs += 5000;
    return send(request);
  };
  const images = new BaseImages({ send: slowly, mirrors: {}, insecure: new Set(), now: () => nowMs });
  const { digests, failures } = await images.digests(many.slice(0, 20), new Map());
  expect(digests.size).toBe(seen.length);
  expect(seen.length).toBeLessThan(8);
  expect(failures.get(many[19] ?? '')).toMatch(/took too long/);
});

test("reads a mirror in Coppice's registry with a token of the operator, and nothing else there", async () => {
  const { send, seen } = fakeSend((asked) => (asked.includes('/library/') ? { status: 404 } : there));
  const login = { token: (scope: string) => Promise.resolve(scope) };
  const images = new BaseImages({
    send,
    mirrors: { 'docker.io': ['own:5000/docker.io'] },
    insecure: new Set(),
    ownMirrors: { host: 'own:5000', login },
  });
  await images.digests([node, 'own:5000/globex/shop:1'], new Map());
  expect(seen).toEqual(
    expect.arrayContaining([
      {
        asked: 'HEAD https://own:5000/v2/docker.io/library/node/manifests/24',
        authorization: 'Bearer repository:docker.io/library/node:pull',
      },
      { asked: 'HEAD https://own:5000/v2/globex/shop/manifests/1', authorization: undefined },
    ]),
  );
});
