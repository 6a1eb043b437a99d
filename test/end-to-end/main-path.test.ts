import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { chromium } from 'playwright-core';
import type { BuildLogMessage } from '../../build-logs/message.ts';
import { groupNamespace } from '../../crds/ids.ts';
import { currentResourceVersion, watchStates } from '../client/watch-states.ts';
import { waitFor } from '../support/wait-for.ts';
import { namespaceOf, pageWith, startHarness, type Harness } from './harness.ts';
import { testsSideBySide } from './side-by-side.ts';
import { outputInPod } from './single-pod.ts';

let harness: Harness;
let repository: string;

beforeAll(async () => {
  harness = await startHarness('main');
  repository = await harness.addRepository('shop', await harness.push('shop', 'main'));
}, 60_000);

afterAll(() => harness.remove(), 60_000);

testsSideBySide(
  {
    'deploys a branch: states in order, a complete log, its page in a browser and inside the cluster': becomesPage,
    'empties the last environment of a ref by DELETE, and creates its contents again by PUT': emptiesAndComesBack,
    'deletes one of several environments of a ref completely by DELETE, but always keeps one': leavesOne,
  },
  300_000,
);

test('runs two branches side by side, and does not build an unchanged service again', async () => {
  await harness.push('shop', 'summer', { 'web/title.txt': 'The summer shop\n' });
  const [main, summer] = await Promise.all([
    harness.spawn(repository, 'main', { name: 'Second main' }),
    harness.spawn(repository, 'summer'),
  ]);
  const pages = await Promise.all(
    [main, summer].map(async (id) => {
      const { weburl } = await harness.built(id);
      return pageWith(weburl, 'Hello from the API');
    }),
  );
  expect(pages[0]).toContain('<h1>The shop</h1>');
  expect(pages[1]).toContain('<h1>The summer shop</h1>');

  const lines: string[] = [];
  for await (const message of harness.client.log(summer)) {
    if ('line' in message) lines.push(`${message.service}: ${message.line}`);
  }
  expect(lines.filter((line) => line.startsWith('api: '))).toEqual([expect.stringContaining('unchanged')]);
}, 300_000);

async function becomesPage(): Promise<void> {
  const since = await currentResourceVersion(harness.kubectl, groupNamespace(harness.group));
  const id = await harness.spawn(repository, 'main');
  const states: string[] = [];
  const watch = watchStates(harness.connection.kubeconfig, id, (state) => states.push(state), since);
  const messages: BuildLogMessage[] = [];
  for await (const message of harness.client.log(id)) messages.push(message);
  const environment = await harness.built(id);
  await waitFor('the watch to report that it is built', 10, async () => (states.at(-1) === 'built' ? true : undefined));
  watch.stop();

  expect(states).toEqual(['empty', 'created', 'building', 'built']);
  expect(messages.map(({ seq }) => seq)).toEqual(messages.map((_message, index) => index + 1));
  expect(messages.at(-1)).toMatchObject({ end: { result: 'succeeded' } });
  expect(environment).toMatchObject({ rid: repository, gitRef: { name: 'main', type: 'branch' }, services: [{}, {}] });

  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    const page = await browser.newPage();
    await page.goto(environment.weburl);
    expect(await page.title()).toBe('The shop');
    expect(await page.textContent('#greeting')).toBe('Hello from the API');
  } finally {
    await browser.close();
  }

  const script = `fetch(${JSON.stringify(environment.weburl)}).then((answer) => answer.text()).then(console.log)`;
  expect(await outputInPod(harness, 'git', ['node', '-e', script])).toContain('Hello from the API');
}

async function emptiesAndComesBack(): Promise<void> {
  await harness.push('shop', 'lonely', { 'web/title.txt': 'The lonely shop\n' });
  const id = await harness.spawn(repository, 'lonely');
  const { weburl } = await harness.built(id);
  expect((await harness.client.send('DELETE', `/api/environment/${id}`)).status).toBe(202);
  await harness.client.waitForEnvironment(id, ({ status }) => status === 'empty');
  const left = await harness.kubectl(['get', 'namespace', namespaceOf(id), '--ignore-not-found', '--output', 'name']);
  expect(left).toBe('');

  expect((await harness.client.send('PUT', `/api/environment/${id}`)).status).toBe(202);
  await harness.built(id);
  await pageWith(weburl, 'The lonely shop');
}

async function leavesOne(): Promise<void> {
  await harness.push('shop', 'twins');
  const twins = await Promise.all([
    harness.spawn(repository, 'twins', { build: false }),
    harness.spawn(repository, 'twins', { build: false }),
  ]);
  for (const id of twins) await harness.client.waitForEnvironment(id, ({ status }) => status === 'created');
  await Promise.all(twins.map((id) => harness.client.send('DELETE', `/api/environment/${id}`)));
  const statuses = await Promise.all(twins.map((id) => settledStatus(id)));
  expect(statuses.sort()).toEqual([404, 'empty']);
}

async function settledStatus(id: string): Promise<404 | string> {
  return waitFor(`${id} to be empty or gone`, 120, async () => {
    const answer = await harness.client.send('GET', `/api/environment/${id}?build=false`);
    if (answer.status === 404) return 404;
    const { status } = JSON.parse(answer.text) as { status: string };
    return status === 'empty' ? status : undefined;
  });
}
