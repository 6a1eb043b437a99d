import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import express from 'express';
import request from 'supertest';
import { commandLineRouter, readCommandLine } from './router.ts';

const text = '#!/usr/bin/env node\n';
const hash = createHash('sha256').update(text).digest('hex');
let folder: string;
let app: express.Express;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'command-line-'));
  writeFileSync(join(folder, 'coppice.mjs'), text);
  const commandLine = readCommandLine(join(folder, 'coppice.mjs'));
  if (!commandLine) throw new Error('the file was not read');
  app = express();
  app.use(commandLineRouter(commandLine));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('is absent while the command line is not built', () => {
  expect(readCommandLine(join(folder, 'other.mjs'))).toBeUndefined();
});

test.each([
  ['/cli/coppice.mjs', text, 'no-cache'],
  ['/cli/coppice.mjs.sha256', `${hash}  coppice.mjs\n`, 'no-cache'],
  [`/cli/${hash}/coppice.mjs`, text, 'public, max-age=31536000, immutable'],
])('serves %s', async (path, content, caching) => {
  const answer = await request(app).get(path).buffer(true);
  expect([answer.status, answer.text, answer.headers['cache-control']]).toEqual([200, content, caching]);
});

test('does not serve the address of another content', async () => {
  expect((await request(app).get(`/cli/${'0'.repeat(64)}/coppice.mjs`)).status).toBe(404);
});
