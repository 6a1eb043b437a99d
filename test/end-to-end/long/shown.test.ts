import { afterAll, beforeAll, expect } from '@jest/globals';
import { z } from 'zod';
import { objectOf } from '../../client/object-of.ts';
import { waitFor } from '../../support/wait-for.ts';
import { namespaceOf, startHarness, type Harness } from '../harness.ts';
import { testsSideBySide } from '../side-by-side.ts';
import { smallPage } from '../small-page.ts';

const MiB = 1024 * 1024;
const sizeSchema = z.looseObject({ size: z.number() });

let harness: Harness;
let repository: string;

beforeAll(async () => {
  harness = await startHarness('shown');
  repository = await harness.addRepository('shop', await harness.push('shop', 'main'));
}, 60_000);

afterAll(() => harness.remove(), 60_000);

testsSideBySide(
  {
    'counts volumes in the size of environment and repository, until the contents are deleted': countsVolumes,
    'ends a build at once when another one supersedes it, or its contents are deleted': endsBuilds,
    'shows state, ref and address in kubectl, and the Events in order': reportsByKubectl,
  },
  240_000,
);

/** Returns a service that has written this many MiB to a volume when it is ready. */
function storing(mebibytes: number): Record<string, string> {
  const write = `dd if=/dev/zero of=/data/x bs=1M count=${mebibytes} && touch /data/done && chmod 700 /data && sleep 1d`;
  const file = `services:
  db:
    image: busybox:1
    command: [sh, -c, '${write}']
    volumes: ['data:/data', 'none:/none']
    healthcheck: { test: [CMD, test, -f, /data/done], interval: 2s, retries: 30 }
volumes: { data: {}, none: {} }
`;
  return { 'compose.yaml': file };
}

async function countsVolumes(): Promise<void> {
  await harness.push('shop', 'storing', storing(7));
  const id = await harness.spawn(repository, 'storing');
  await harness.built(id);
  const { size } = await harness.client.waitForEnvironment(id, (one) => sizeSchema.parse(one).size > 0, 90);
  expect(size).toBeGreaterThanOrEqual(7 * MiB);
  expect(size).toBeLessThan(7.5 * MiB);
  const whole = await harness.client.call(sizeSchema, 'GET', `/api/repository/${repository}`);
  expect(whole.size).toBeGreaterThanOrEqual(7 * MiB);
  await waitFor('what measured to be gone', 30, async () => {
    const jobs = await harness.kubectl(['get', 'jobs', '--namespace', namespaceOf(id), '--output', 'name']);
    return jobs === '' ? true : undefined;
  });
  await harness.client.send('DELETE', `/api/environment/${id}`);
  const isEmpty = (one: { status: string }) => one.status === 'empty' && sizeSchema.parse(one).size === 0;
  await waitFor('the contents to be gone, with their size', 60, async () => {
    const answer = await harness.client.send('GET', `/api/environment/${id}?build=false`);
    // If a sync has created another environment of this ref, this one is deleted completely.
    if (answer.status === 404) return true;
    return isEmpty(JSON.parse(answer.text) as { status: string }) ? true : undefined;
  });
}

/** A build that takes two minutes and little processor time. */
const slow = { ...smallPage('slow'), Dockerfile: 'FROM busybox:1\nRUN sleep 120\n' };

async function endsBuilds(): Promise<void> {
  await harness.push('shop', 'slow', slow);
  const id = await harness.spawn(repository, 'slow');
  await buildPods(id, '1', (count) => count > 0);
  await harness.push('shop', 'slow', { ...slow, 'index.html': 'slower\n' });
  await harness.client.send('POST', `/api/environment/${id}/build`);
  const superseded = Date.now();
  await buildPods(id, '1', (count) => count === 0);
  expect(Date.now() - superseded).toBeLessThan(60_000);
  await buildPods(id, '2', (count) => count > 0);
  await harness.client.send('DELETE', `/api/environment/${id}`);
  const deleted = Date.now();
  await buildPods(id, '2', (count) => count === 0);
  expect(Date.now() - deleted).toBeLessThan(60_000);
}

/** Waits for a number of pods of this build. */
async function buildPods(id: string, build: string, isReached: (count: number) => boolean): Promise<void> {
  const at = ['--namespace', namespaceOf(id), '--selector', `coppice.dev/build=${build}`];
  await waitFor(`the pods of build ${build}`, 90, async () => {
    const pods = await harness.kubectl(['get', 'pods', ...at, '--output', 'name']);
    return isReached(pods.split('\n').filter((line) => line !== '').length) ? true : undefined;
  });
}

async function reportsByKubectl(): Promise<void> {
  await harness.push('shop', 'plain', {
    'compose.yaml': 'services: { web: { image: "busybox:1", command: [httpd, -f, -p, "80"], ports: ["80:80"] } }\n',
  });
  const id = await harness.spawn(repository, 'plain', { ttl: 3600 });
  const { weburl } = await harness.built(id);
  const { namespace, name } = objectOf(id);
  const at = [name, '--namespace', namespace];
  const [head = '', row = ''] = (await harness.kubectl(['get', 'environment', ...at])).split('\n');
  expect(head.split(/\s+/)).toEqual(['NAME', 'STATE', 'REF', 'URL', 'READY', 'ASLEEP', 'AGE']);
  expect(row.split(/\s+/).slice(0, 5)).toEqual([name, 'built', 'plain', weburl, 'True']);
  const described = await harness.kubectl(['describe', 'environment', ...at]);
  const events = described.slice(described.lastIndexOf('\nEvents:')).trimEnd().split('\n').slice(4);
  expect(events.map((line) => line.trim().split(/\s+/).slice(0, 2).join(' '))).toEqual([
    'Normal Creating',
    'Normal Created',
    'Normal BuildStarted',
    'Normal ImagesReady',
    'Normal BuildSucceeded',
  ]);
  await harness.client.send('DELETE', `/api/environment/${id}`);
  const reasons = 'jsonpath={range .items[*]}{.reason}{"\\n"}{end}';
  const ofIt = [`--namespace=${namespace}`, `--field-selector=involvedObject.name=${name}`, `--output=${reasons}`];
  await waitFor('the end to be reported', 60, async () => {
    const reported = (await harness.kubectl(['get', 'events.v1.', ...ofIt])).split('\n');
    return reported.includes('Removing') || reported.includes('Deleting') ? true : undefined;
  });
}
