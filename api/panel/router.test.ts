import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import express from 'express';
import request from 'supertest';
import { readPanelFiles } from './panel-files.ts';
import { PAGE_PATHS, panelRouter, unknownPage } from './router.ts';

let folder: string;
let app: express.Express;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'panel-'));
  mkdirSync(join(folder, 'assets'));
  for (const [path, text] of Object.entries({ 'index.html': '<!doctype html>', 'assets/main-ABC.js': 'main()' })) {
    writeFileSync(join(folder, path), text);
    writeFileSync(join(folder, `${path}.br`), brotliCompressSync(text));
    writeFileSync(join(folder, `${path}.gz`), gzipSync(text));
  }
  const files = readPanelFiles(folder);
  if (!files) throw new Error('the files of the panel were not read');
  app = express();
  app.use(panelRouter(files), unknownPage(files));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('answers 404 while the panel is not built', () => {
  expect(readPanelFiles(join(folder, 'assets'))).toBeUndefined();
});

describe('the document', () => {
  test.each([
    '/',
    '/sign-in',
    '/invitation?invitation=g.acme.x',
    '/environments/acme.shop-main',
    '/groups/acme?tab=members',
  ])('is served at %s', async (path) => {
    const answer = await request(app).get(path);
    expect([answer.status, answer.text, answer.headers['cache-control']]).toEqual([200, '<!doctype html>', 'no-cache']);
    expect(answer.headers['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self';/,
    );
    expect(answer.headers['content-security-policy']).not.toMatch(/unsafe|data:|blob:|https?:/);
  });

  test.each(['/nothing', '/environments', '/environments/a/b', '/assets/../index.html'])(
    'is not served at %s',
    async (path) => {
      expect((await request(app).get(path)).status).toBe(404);
    },
  );
});

test('each page of the panel is served with its own status', () => {
  const app = readFileSync(new URL('../../panel/app.tsx', import.meta.url), 'utf8');
  const routes = [...app.matchAll(/<Route\s+path="([^"]+)"/g)].map(([, path = '']) => path);
  const withoutNames = (path: string) => path.replace(/:\w+/g, ':');
  expect(routes.length).toBeGreaterThan(5);
  expect(PAGE_PATHS.map(withoutNames)).toEqual(expect.arrayContaining(routes.map(withoutNames)));
});

describe('an unknown page', () => {
  test.each(['/nothing', '/environments/a/b'])('is shown to people: %s', async (path) => {
    const answer = await request(app).get(path).set('accept', 'text/html,*/*;q=0.8');
    expect([answer.status, answer.text]).toEqual([404, '<!doctype html>']);
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
  });

  test.each([
    ['/nothing', '*/*'],
    ['/nothing', 'application/json'],
    ['/api/nothing', 'text/html'],
    ['/assets/none.js', 'text/html'],
  ])('is an error to programs, and below the API: %s, %s', async (path, accept) => {
    const answer = await request(app).get(path).set('accept', accept);
    expect(answer.status).toBe(404);
    expect(answer.text).not.toBe('<!doctype html>');
  });
});

describe('a file', () => {
  test.each([
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['br, gzip', 'br'],
    ['identity', undefined],
  ])('is sent to a client that accepts %s as %s, and cached forever', async (accepted, encoding) => {
    const answer = await request(app)
      .get('/assets/main-ABC.js')
      .set('Accept-Encoding', accepted)
      .buffer(true)
      .parse(collect);
    expect(answer.headers['content-encoding']).toBe(encoding);
    expect(answer.headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
      vary: 'Accept-Encoding',
    });
  });

  test('of another version is answered 404', async () => {
    expect((await request(app).get('/assets/main-OLD.js')).status).toBe(404);
  });
});

/** Brotli is not decoded by the client of the tests. */
function collect(response: request.Response, done: (error: Error | null, body: unknown) => void): void {
  // Without a parser, supertest's answer is the stream itself.
  const stream = response as unknown as NodeJS.ReadableStream;
  stream.resume();
  stream.on('end', () => done(null, ''));
}
