// Approval of commits of forks, at an emulated host that reports who can write.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { EnvironmentAnswer } from '../client/rest-client.ts';
import { waitFor } from '../support/wait-for.ts';
import { statusesAt } from './commit-statuses.ts';
import { addedRefs } from './git-host-journey.ts';
import { conditionOf, namespaceOf, pageWith, startHarness, type Harness } from './harness.ts';
import { smallPage } from './small-page.ts';
import { axeViolations, PanelBrowser } from './panel-browser.ts';
import { adminOf, connect, HOSTED, makeHosted, type HostedRepository } from './test-hosts.ts';

const approvalSchema = z.looseObject({
  waitingCommit: z.string().optional(),
  commits: z.array(z.looseObject({ commit: z.string(), by: z.string().optional() })),
});
const listSchema = z.looseObject({ environments: z.array(z.looseObject({ id: z.string() })) });
/** Not valid as a service file: whoever reads it reports that. */
const hostile = { 'compose.yaml': 'services: [' };

let harness: Harness;
let host: HostedRepository;
let repository: string;
let number: number;
let environment: string;

beforeAll(async () => {
  harness = await startHarness('approval');
  host = await makeHosted('ownerhost', harness.group, undefined, { ann: 'write', carl: 'read' });
  await host.push('refs/heads/main', 'main 1');
  repository = await harness.register({ name: 'shop', type: 'ownerhost', params: host.params });
  const rules = [{ pullRequests: { labels: ['preview'], forks: true }, environment: 'built' }];
  const settings = { forks: { approval: 'required' }, sync: { rules } };
  await harness.client.call(z.unknown(), 'POST', `/api/repository/${repository}/settings`, settings);
  await connect(harness.client, repository, host);
  number = await host.openForkPullWith(hostile);
  await adminOf('ownerhost').change(path(), number, { labels: ['preview'] });
  await addedRefs(harness, repository, [`pull request ${number}`]);
  const { environments } = await harness.client.call(listSchema, 'GET', `/api/repository/${repository}`);
  environment = environments[0]?.id ?? '';
}, 120_000);

afterAll(async () => {
  await harness.remove();
  await host.remove();
}, 60_000);

const path = () => HOSTED.ownerhost.path(harness.group);
const approvalOf = (one: EnvironmentAnswer) => approvalSchema.parse(one['approval'] ?? { commits: [] });
const approve = (commit: string, client = harness.client) =>
  client.send('POST', `/api/environment/${environment}/approve`, { commit });
const comment = (author: string, text: string) => adminOf('ownerhost').comment(path(), number, author, text);

/** Waits until the commit waits and nothing is in progress, such as a sync's request for the same commit. */
function waitsFor(commit: string): Promise<EnvironmentAnswer> {
  const isWaiting = (one: EnvironmentAnswer) => approvalOf(one).waitingCommit === commit && one.status !== 'building';
  return harness.client.waitForEnvironment(environment, isWaiting, 60);
}

/** Returns the newest commit of the pull request. */
async function head(): Promise<string> {
  const { pullRequests } = await host.record();
  return pullRequests.find((one) => one.number === number)?.commit ?? '';
}

async function askedAbout(author: string): Promise<void> {
  await waitFor(`the operator to ask whether ${author} can write`, 30, async () => {
    const { received } = await host.record();
    return received.some((one) => one.path.endsWith(`/collaborators/${author}/permission`)) ? true : undefined;
  });
}

test('a commit of a fork is neither read nor given anything until it is approved', async () => {
  const commit = await head();
  const waiting = await waitsFor(commit);
  expect(waiting.status).toBe('empty');
  expect(conditionOf(waiting, 'Approved')).toMatchObject({ status: 'False', reason: 'WaitingForApproval' });
  expect(conditionOf(waiting, 'Reconciling')).toMatchObject({ status: 'True', reason: 'WaitingForApproval' });
  expect(conditionOf(waiting, 'Created')).toBeUndefined();
  const namespaces = await harness.kubectl(['get', 'namespaces', '--output', 'name']);
  expect(namespaces).not.toContain(namespaceOf(environment));
  const statuses = await statusesAt(host, { context: `coppice/${environment}`, commit }, 'pending', 30);
  expect(statuses).toMatchObject([{ description: 'waits for a member to approve this commit of a fork' }]);
  await waitFor('the comment that says how', 30, async () => {
    const { comments } = await host.record();
    return comments.some(({ body }) => body.includes(`\`/coppice approve ${commit}\``)) ? true : undefined;
  });
}, 120_000);

test('nobody else can approve it, and nothing but the whole commit', async () => {
  const commit = await head();
  const reader = await harness.client.withApiToken('reader', new Date(Date.now() + 3600_000), true);
  expect(await approve(commit, reader)).toMatchObject({ status: 403 });
  expect(await approve(commit, await harness.newUser())).toMatchObject({ status: 404 });
  expect(await approve(commit.slice(0, 12))).toMatchObject({ status: 422 });
  expect(await approve('a'.repeat(40))).toMatchObject({ status: 409 });
  await comment('mallory', `/coppice approve ${commit}`);
  await askedAbout('mallory');
  await comment('carl', `/coppice approve ${commit}`);
  await askedAbout('carl');
  for (const text of [`/coppice approve ${commit.slice(0, 12)}`, `> /coppice approve ${commit}`, '/coppice approve']) {
    await comment('ann', text);
  }
  const { received } = await host.record();
  expect(received.filter((one) => one.path.endsWith('/collaborators/ann/permission'))).toEqual([]);
  expect(approvalOf(await harness.client.environment(environment))).toEqual({ waitingCommit: commit, commits: [] });
}, 120_000);

test('a push is another commit, which a comment of somebody who can write approves', async () => {
  const before = await head();
  await host.pushFork(smallPage('offer 2'));
  const commit = await head();
  await waitsFor(commit);
  // A replica of the API that has not read the new commit yet still accepts it, for that commit only.
  await waitFor('the former commit to be refused', 20, async () => {
    const { status } = await approve(before);
    expect([202, 409]).toContain(status);
    return status === 409 ? true : undefined;
  });
  await comment('ann', `/coppice approve ${commit}`);
  const built = await harness.built(environment);
  await pageWith(built.weburl, 'offer 2');
  expect(approvalOf(built)).toMatchObject({ commits: [{ commit, by: 'ann at ownerhost.localhost:8080' }] });
  expect(approvalOf(built)).not.toHaveProperty('waitingCommit');
}, 180_000);

/** Approves the commit that the panel shows, as a member without the role owner; returns the address of the member. */
async function approveInPanel(commit: string): Promise<string> {
  const password = randomBytes(12).toString('base64url');
  const { email = '' } = await harness.newUser(password);
  await harness.client.call(z.unknown(), 'POST', `/api/group/${harness.group}/members`, { name: email });
  const browser = await PanelBrowser.start(harness.connection.apiUrl);
  try {
    const { page } = await browser.open(`/environments/${environment}`);
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('region', { name: 'Approval' }).getByText(commit).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('button', { name: `Approve ${commit.slice(0, 7)}` }).click();
    await page.getByText('Approved the commit.').waitFor();
    await page.getByRole('region', { name: 'Approval' }).waitFor({ state: 'detached' });
    expect(browser.faults).toEqual([]);
  } finally {
    await browser.close();
  }
  return email;
}

test('a later commit waits while the approved one runs on, until a member approves it in the panel', async () => {
  const first = await head();
  await host.pushFork(smallPage('offer 3'));
  const commit = await head();
  const waiting = await waitsFor(commit);
  expect(waiting.status).toBe('built');
  await pageWith(waiting.weburl, 'offer 2');
  await statusesAt(host, { context: `coppice/${environment}`, commit }, 'pending', 30);
  const email = await approveInPanel(commit);
  await pageWith(waiting.weburl, 'offer 3', 120);
  const { commits } = approvalOf(await harness.client.environment(environment));
  expect(commits).toMatchObject([{ commit, by: email }, { commit: first }]);
  const logs = ['logs', 'deployment/coppice-operator', '--namespace', 'coppice-system', '--since', '5m'];
  const lines = (await harness.kubectl(logs)).split('\n').filter((line) => line.includes('"audit":true'));
  expect(lines.some((line) => line.includes(commit) && line.includes(email))).toBe(true);
}, 180_000);

test('an annotation approves, too, and an approval of another commit does not', async () => {
  await host.pushFork(smallPage('offer 4'));
  const commit = await head();
  await waitsFor(commit);
  const annotate = (of: string) => {
    const name = environment.split('.')[1] ?? '';
    const value = `coppice.dev/request-approve=${new Date().toISOString()}/kubectl/${of}/gitops`;
    const at = ['environments.coppice.dev', name, '--namespace', `group-${harness.group}`, '--overwrite'];
    return harness.kubectl(['annotate', ...at, value]);
  };
  await annotate('b'.repeat(40));
  await harness.client.waitForEnvironment(environment, (one) => approvalOf(one).commits[0]?.by === 'gitops', 30);
  expect(approvalOf(await harness.client.environment(environment)).waitingCommit).toBe(commit);
  await annotate(commit);
  await pageWith((await harness.client.environment(environment)).weburl, 'offer 4', 120);
}, 180_000);
