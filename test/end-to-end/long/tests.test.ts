import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { objectOf } from '../../client/object-of.ts';
import { waitFor } from '../../support/wait-for.ts';
import { statusesAt } from '../commit-statuses.ts';
import { conditionOf, startHarness, type Harness } from '../harness.ts';
import { testsSideBySide } from '../side-by-side.ts';
import { makeHosted, type HostedRepository } from '../test-hosts.ts';
import { testedPage, testsOver, type NamedTest, type TestsAnswer } from '../tested-page.ts';

/**
 * Tests that service files name: run after each build, reported on the commit, and read and requested through the
 * REST API and kubectl.
 */

const right = '<!doctype html><title>Shop</title><body style="background:#0a0"><h1>Open all day</h1></body>';
const broken = '<!doctype html><title>Shop</title><h1>Sorry</h1><script>throw new Error("no till")</script>';
const tests: NamedTest[] = [
  {
    name: 'home',
    type: 'http',
    params: {
      paths: [
        { path: '/', text: 'Open all day' },
        { path: '/none', status: 404 },
      ],
    },
  },
  { name: 'looks', type: 'page', params: { text: 'Open all day' } },
];

let harness: Harness;
let host: HostedRepository;
let repository: string;

beforeAll(async () => {
  harness = await startHarness('tested');
  host = await makeHosted('ownerhost', harness.group);
  await host.push('refs/heads/main', 'nothing to test');
  repository = await harness.register({ name: 'shop', type: 'ownerhost', params: host.params });
}, 120_000);

afterAll(async () => {
  await harness.remove();
  await host.remove();
}, 120_000);

/** Creates an environment of a branch with this page, and waits for the end of its tests. */
async function tested(branch: string, html: string, named: NamedTest[]) {
  const commit = await host.pushFiles(`refs/heads/${branch}`, testedPage(html, named));
  const id = await harness.spawn(repository, branch);
  await harness.built(id);
  return { commit, id, answer: await testsOver(harness.client, id) };
}

/** Returns names with outcomes, and the summary of an error, which alone shows why a test did not run. */
const outcomes = ({ tests: all }: TestsAnswer) =>
  all.map(({ name, outcome, summary = '' }) => `${name} ${outcome}${outcome === 'error' ? `: ${summary}` : ''}`);

/** Returns the commit statuses of an environment's tests in order, once the last one has this state. */
function statusesOf(id: string, commit: string, last: string) {
  return statusesAt(host, { context: `coppice/${id}/tests`, commit }, last, 120);
}

/** Returns red, green and blue of the pixel at the top left, which no filter changes (PNG specification, section 9). */
function firstPixel(png: Buffer): number[] {
  // 8 bits for each colour; RGB, or RGBA.
  expect(png[24]).toBe(8);
  expect([2, 6]).toContain(png[25]);
  const data: Buffer[] = [];
  for (let at = 8; at + 8 <= png.length; at += png.readUInt32BE(at) + 12) {
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') {
      data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
    }
  }
  return [...inflateSync(Buffer.concat(data)).subarray(1, 4)];
}

const condition = async (id: string) => conditionOf(await harness.client.environment(id), 'Tested');

testsSideBySide(
  {
    async 'reports success on the commit of a page as expected, with a screenshot'() {
      const { commit, id, answer } = await tested('right', right, tests);
      expect(outcomes(answer)).toEqual(['home passed', 'looks passed']);
      expect(answer.tested).toMatchObject({ status: 'True', message: 'build 1: all 2 tests passed' });
      const statuses = await statusesOf(id, commit, 'success');
      expect(statuses.map(({ state }) => state)).toEqual(['pending', 'success']);
      expect(statuses.at(-1)).toMatchObject({ description: 'build 1: all 2 tests passed' });

      const shot = answer.tests[1]?.result?.find(({ Type }) => Type === 'image');
      const png = Buffer.from(shot?.Content ?? '', 'base64');
      expect(png.subarray(1, 4).toString()).toBe('PNG');
      await writeFile(join(tmpdir(), 'coppice-tests-right.png'), png);
      // Width and height of the first chunk, and the page's own colour.
      expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([1280, 800]);
      expect(firstPixel(png)).toEqual([0, 0xaa, 0]);

      const [build] = answer.history ?? [];
      expect(build).toMatchObject({ build: 1, commit });
      const labels = build?.tests.map(
        ({ name, numbers }) => `${name}: ${numbers.map(({ label }) => label).join(', ')}`,
      );
      expect(labels?.sort()).toEqual([
        'home: time /, status /, time /none, status /none',
        'looks: status, first answer, load time, console errors',
      ]);

      // Readers of the environment cannot read the Secret of a run.
      const { namespace, name } = objectOf(id);
      const reported = await harness.kubectl(['get', 'environments.coppice.dev', '-n', namespace, '-o', 'json']);
      const secret = await harness.kubectl(['get', 'secret', `tests-${name}`, '-n', namespace, '-o', 'json']);
      const { data } = JSON.parse(secret) as { data: Record<string, string> };
      const kept = Buffer.from(data['runs.json'] ?? '', 'base64').toString();
      const secrets = [...kept.matchAll(/"Secret":"([^"]+)"/g)].map(([, one = '']) => one);
      expect(secrets).toHaveLength(2);
      for (const one of secrets) expect(reported + JSON.stringify(answer)).not.toContain(one);
    },

    async 'reports failure on the commit of a broken page, and tests again by kubectl, the REST API and a push'() {
      const { commit, id, answer } = await tested('broken', broken, tests);
      expect(outcomes(answer)).toEqual(['home failed', 'looks failed']);
      expect(await condition(id)).toMatchObject({ status: 'False', reason: 'Failed' });
      const failure = (await statusesOf(id, commit, 'failure')).at(-1);
      expect(failure?.description).toMatch(
        /^build 1: 2 of 2 tests failed: home: \/: the response lacks the text "Open all day"/,
      );
      expect(failure?.targetUrl).toBe(`${harness.connection.apiUrl}/environments/${id}?tab=tests`);
      // Other tests read results too, and an account can read one at a time.
      const shown = await waitFor('the results', 30, async () => {
        const answered = await harness.client.send('GET', `/api/environment/${id}/tests`);
        if (answered.status === 200) return answered;
        throw new Error(`${answered.status} ${answered.text}`);
      });
      expect(JSON.parse(shown.text)).toMatchObject({ build: 1, tests: [{ name: 'home', outcome: 'failed' }, {}] });

      const { namespace, name } = objectOf(id);
      const at = ['environments.coppice.dev', name, '-n', namespace];
      await harness.kubectl(['annotate', ...at, `coppice.dev/request-test=${new Date().toISOString()}`]);
      const again = await testsOver(harness.client, id, answer);
      expect(outcomes(again)).toEqual(['home failed', 'looks failed']);
      const asked = await harness.client.send('POST', `/api/environment/${id}/tests`);
      expect(asked.status).toBe(202);
      const third = await testsOver(harness.client, id, again);
      expect(third.build).toBe(1);

      const fixed = await host.pushFiles('refs/heads/broken', testedPage(right, tests));
      await harness.sync(repository);
      await statusesOf(id, fixed, 'success');
      expect(await condition(id)).toMatchObject({ status: 'True', message: 'build 2: all 2 tests passed' });
    },

    async 'reports an error for a test that cannot run, and does not prevent the build'() {
      const { commit, id, answer } = await tested('odd', right, [{ name: 'odd', type: 'no-such-type' }]);
      expect(outcomes(answer)).toEqual([expect.stringMatching(/^odd error: .*no test type no-such-type/)]);
      await statusesOf(id, commit, 'error');
      expect(await condition(id)).toMatchObject({ status: 'Unknown', reason: 'NotRun' });
      expect(await harness.client.environment(id)).toMatchObject({ status: 'built' });
    },

    async 'wakes an environment that sleeps, and waits for its services'() {
      const { id, answer } = await tested('sleepy', right, tests.slice(0, 1));
      expect((await harness.client.send('POST', `/api/environment/${id}/sleep`)).status).toBe(202);
      await harness.client.waitForEnvironment(id, (one) => conditionOf(one, 'Ready')?.reason === 'Asleep', 60);
      expect((await harness.client.send('POST', `/api/environment/${id}/tests`)).status).toBe(202);
      // Before its services run, it would be answered with 503.
      expect(outcomes(await testsOver(harness.client, id, answer))).toEqual(['home passed']);
      const woken = await harness.client.environment(id);
      expect(conditionOf(woken, 'Asleep')).toMatchObject({ status: 'False', reason: 'Requested' });
    },

    async 'returns no tests of an environment without tests, and refuses to run them again'() {
      const id = await harness.spawn(repository, 'main');
      await harness.built(id);
      const answer = await harness.client.send('GET', `/api/environment/${id}/tests`);
      expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { tests: [] }]);
      expect((await harness.client.send('POST', `/api/environment/${id}/tests`)).status).toBe(409);
    },
  },
  300_000,
);
