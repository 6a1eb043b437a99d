import { expect, test } from '@jest/globals';
import { boundedFetch } from './bounded-fetch.ts';

const options = { body: undefined, headers: {}, method: 'GET' as const, redirect: 'manual' as const };

test("returns the provider's response unchanged", async () => {
  const fetch = boundedFetch(() => Promise.resolve(Response.json({ issuer: 'x' }, { status: 201 })));
  const response = await fetch('https://login.example', options);
  expect([response.status, await response.json()]).toEqual([201, { issuer: 'x' }]);
});

test('ends a response that exceeds the limit', async () => {
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(64 * 1024)),
  });
  const fetch = boundedFetch(() => Promise.resolve(new Response(endless)));
  const response = await fetch('https://login.example', options);
  await expect(response.text()).rejects.toThrow('exceeds 1048576 bytes');
});
