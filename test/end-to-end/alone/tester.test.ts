import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '../../support/wait-for.ts';
import { conditionOf, startHarness, type Harness } from '../harness.ts';
import { testedPage, testsOf, testsOver, type TestsAnswer } from '../tested-page.ts';

/** Kills the tester during a run, and queues a hundred tests at once. */

let harness: Harness;
let repository: string;

/** Answers `/cgi-bin/slow` after 15 s. */
const slowPage = {
  ...testedPage('slow', [
    { name: 'slow', type: 'http', params: { paths: [{ path: '/cgi-bin/slow', text: 'at last' }], timeoutSeconds: 30 } },
  ]),
  slow: '#!/bin/sh\nsleep 15\nprintf "Content-Type: text/plain\\r\\n\\r\\nat last"\n',
  Dockerfile:
    'FROM busybox:1\nCOPY index.html /www/\nCOPY slow /www/cgi-bin/slow\nRUN chmod +x /www/cgi-bin/slow\nCMD exec httpd -f -p 8080 -h /www\n',
};

const ten = Array.from({ length: 10 }, (_, n) => ({ name: `home-${n}`, type: 'http' }));

beforeAll(async () => {
  harness = await startHarness('tester');
  await harness.push('page', 'many', testedPage('many', ten));
  const origin = await harness.push('page', 'slow', slowPage);
  repository = await harness.addRepository('page', origin);
}, 120_000);

afterAll(() => harness.remove(), 120_000);

test('reports a run as not possible when the tester is killed, and runs it again on request', async () => {
  const { client, kubectl } = harness;
  const id = await harness.spawn(repository, 'slow');
  await harness.built(id);
  await waitFor('the test to run', 60, async () => {
    const { tests } = await testsOf(client, id);
    return tests[0]?.outcome === 'running' ? true : undefined;
  });
  const pods = ['--namespace', 'coppice-system', '--selector', 'app.kubernetes.io/name=coppice-tester'];
  await kubectl(['delete', 'pods', ...pods, '--grace-period=0', '--force']);
  const killed = await testsOver(client, id);
  expect(killed.tests).toMatchObject([{ name: 'slow', outcome: 'error' }]);
  expect(conditionOf(await client.environment(id), 'Tested')).toMatchObject({ status: 'Unknown', reason: 'NotRun' });
  expect((await client.send('POST', `/api/environment/${id}/tests`)).status).toBe(202);
  expect((await testsOver(client, id, killed)).tests).toMatchObject([{ name: 'slow', outcome: 'passed' }]);
}, 400_000);

test('queues a hundred tests and runs each once, also when all are requested at once', async () => {
  const { client } = harness;
  const allPass = (answers: TestsAnswer[]) => {
    const runs = answers.flatMap(({ tests }) => tests);
    expect(runs.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 100 }, () => 'passed'));
    expect(new Set(runs.map(({ ID }) => ID)).size).toBe(100);
  };
  const ids: string[] = [];
  for (let n = 0; n < 10; n++) ids.push(await harness.spawn(repository, 'many'));
  await Promise.all(ids.map((id) => harness.built(id)));
  const answers = await Promise.all(ids.map((id) => testsOver(client, id)));
  allPass(answers);
  // The environments became ready one after another, and with them their tests were started.
  const asked = await Promise.all(ids.map((id) => client.send('POST', `/api/environment/${id}/tests`)));
  expect(asked.map(({ status }) => status)).toEqual(ids.map(() => 202));
  allPass(await Promise.all(ids.map((id, n) => testsOver(client, id, answers[n]))));
}, 600_000);
