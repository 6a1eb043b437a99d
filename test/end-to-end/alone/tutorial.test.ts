import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { userName } from '../../../api/user-records/user-record.ts';
import { REPOSITORY_ROOT } from '../../support/paths.ts';
import { run } from '../../support/run.ts';
import { codeBlocks } from '../../docs/code-blocks.ts';
import { startHarness, type Harness } from '../harness.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness('tutorial');
}, 60_000);

afterAll(async () => {
  await rm('/tmp/hello', { recursive: true, force: true });
  const groups = ['delete', 'groups.coppice.dev', 'tutorial', 'ada', '--ignore-not-found', '--wait=false'];
  await harness.kubectl(groups);
  const user = ['delete', 'secret', userName('ada@example.com'), '--namespace', 'coppice-users', '--ignore-not-found'];
  await harness.kubectl(user);
  await harness.remove();
}, 60_000);

test('runs the tutorial from its first line to its last', async () => {
  const page = readFileSync(join(REPOSITORY_ROOT, 'docs/tutorials/first-environment.md'), 'utf8');
  const blocks = codeBlocks(page).filter(({ name }) => name === 'paste');
  expect(blocks.length).toBeGreaterThan(6);
  const started = Date.now();
  const reported = await run('sh', ['-eu', '-c', blocks.map(({ code }) => code).join('\n')], { deadline: 280 });
  console.info(`the tutorial takes ${Math.round((Date.now() - started) / 1000)} s`);
  expect(reported).toMatch(/"weburl":"http:.*\nHello from main\n/);
  expect(reported).toMatch(/\nHello from main\nHello from blue\n/);
  expect(reported).toMatch(/"message":"[^\n]*goes wrong[^\n]*\nHello from blue\n/);
}, 300_000);
