import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { githubDelivery } from '../../client/github-delivery.ts';
import { send } from '../../client/local-http.ts';
import { webhookOf } from '../../client/webhook-of.ts';
import { waitFor } from '../../support/wait-for.ts';
import { GiteaUser, GITEA_SSH_URL, GITEA_URL } from '../../gitea/gitea-user.ts';
import { pageWith, startHarness, type Harness } from '../harness.ts';

/** A real Git server: private repositories over HTTP and SSH, pull requests, and webhooks that it signs. */

const repositorySchema = z.looseObject({
  environments: z.array(
    z.object({ id: z.string(), name: z.string(), gitRef: z.object({ name: z.string(), type: z.string() }) }),
  ),
  conditions: z.array(z.looseObject({ type: z.string(), status: z.string(), reason: z.string(), message: z.string() })),
});
const approvalSchema = z.looseObject({
  approval: z
    .object({ waitingCommit: z.string().optional(), commits: z.array(z.looseObject({ commit: z.string() })) })
    .optional(),
});
const checkSchema = z.looseObject({
  refs: z.array(z.looseObject({ type: z.string(), name: z.string(), why: z.string() })),
});
const settingsSchema = z.looseObject({ sshPublicKey: z.string() });

/** A service that serves one page, and is built in a second. */
const page = (text: string): Record<string, string> => ({
  'compose.yaml': "services:\n  web:\n    build: .\n    ports: ['8080:8080']\n",
  Dockerfile: 'FROM busybox:1\nCOPY index.html /www/\nCMD exec httpd -f -p 8080 -h /www\n',
  'index.html': text,
});

let harness: Harness;
let gitea: GiteaUser;
let others: Record<'read' | 'write', GiteaUser>;

beforeAll(async () => {
  harness = await startHarness('gitea');
  gitea = await GiteaUser.create(harness.kubectl);
  others = { read: await GiteaUser.create(harness.kubectl), write: await GiteaUser.create(harness.kubectl) };
}, 60_000);

afterAll(async () => {
  await harness.remove();
  for (const user of [gitea, others.read, others.write]) await user.remove();
}, 180_000);

function addRepository(name: string, params: Record<string, string>): Promise<string> {
  return harness.register({ name, type: 'generic', params });
}
const repositoryOf = (id: string) => harness.client.call(repositorySchema, 'GET', `/api/repository/${id}`);

/** Returns the refs that have an environment, once they are these. */
function waitForRefs(repository: string, refs: string[]): Promise<Map<string, string>> {
  return waitFor(`environments of ${refs.join(', ')}`, 60, async () => {
    const { environments } = await repositoryOf(repository);
    const found = new Map(environments.map(({ id, gitRef }) => [`${gitRef.type} ${gitRef.name}`, id]));
    if (JSON.stringify([...found.keys()].sort()) === JSON.stringify([...refs].sort())) return found;
    throw new Error(`there are ${[...found.keys()].sort().join(', ')}`);
  });
}

test('handles a private repository over HTTP: refs, a pull request by webhook, a rebuild after a push, its end', async () => {
  const origin = await gitea.createRepository('shop');
  const commit = await gitea.push('shop', { branch: 'main', files: page('from main') });
  await gitea.createTag('shop', 'v1.0', commit);
  const { username, password } = gitea.credentials;
  const repository = await addRepository('shop', { origin, username, password });
  await harness.sync(repository);
  await waitForRefs(repository, ['branch main', 'tag v1.0']);

  // Gitea keeps the ref of a closed pull request.
  const at = ['repositories.coppice.dev', 'shop', '--namespace', `group-${harness.group}`];
  await harness.kubectl(['patch', ...at, '--type=merge', '--patch={"spec": {"sync": {"confirmClosed": false}}}']);
  const webhook = await webhookOf(harness.client, repository);
  await gitea.createWebhook('shop', webhook);
  await gitea.commit('shop', 'main', page('from summer'), 'summer');
  const number = await gitea.openPullRequest('shop', 'summer', 'main');
  const pullRequest = `pull request ${number}`;
  const found = await waitForRefs(repository, ['branch main', 'branch summer', pullRequest, 'tag v1.0']);
  const environment = found.get(pullRequest) ?? '';
  expect((await harness.client.send('PUT', `/api/environment/${environment}`)).status).toBe(202);
  const { weburl } = await harness.built(environment);
  await pageWith(weburl, 'from summer');

  await gitea.commit('shop', 'summer', page('from a later summer'));
  await pageWith(weburl, 'from a later summer', 120);

  await gitea.closePullRequest('shop', number);
  await waitForRefs(repository, ['branch main', 'branch summer', 'tag v1.0']);
  await waitFor('the page to be gone', 60, async () => ((await send(weburl)).status === 404 ? true : undefined));

  await gitea.deleteBranch('shop', 'summer');
  await waitForRefs(repository, ['branch main', 'tag v1.0']);
}, 300_000);

test('approves a commit by a comment of somebody who can write, and by no comment of a reader', async () => {
  const origin = await gitea.createRepository('approved');
  await gitea.push('approved', { branch: 'main', files: page('from main') });
  const { username, password } = gitea.credentials;
  const repository = await addRepository('approved', { origin, username, password });
  const settings = { forks: { approval: 'required' } };
  await harness.client.call(z.unknown(), 'POST', `/api/repository/${repository}/settings`, settings);
  await gitea.createWebhook('approved', await webhookOf(harness.client, repository));
  await gitea.commit('approved', 'main', page('offered'), 'offer');
  const number = await gitea.openPullRequest('approved', 'offer', 'main');
  const found = await waitForRefs(repository, ['branch main', 'branch offer', `pull request ${number}`]);
  const environment = found.get(`pull request ${number}`) ?? '';
  expect((await harness.client.send('PUT', `/api/environment/${environment}`)).status).toBe(202);
  const approvalOf = async () => approvalSchema.parse(await harness.client.environment(environment)).approval;
  const commit = await waitFor('the commit to wait', 60, async () => (await approvalOf())?.waitingCommit);

  const text = `/coppice approve ${commit}`;
  const at = { owner: gitea.name, repository: 'approved', number };
  for (const permission of ['read', 'write'] as const) {
    await gitea.addCollaborator('approved', others[permission].name, permission);
  }
  await others.read.comment(at, text);
  await delay(10_000);
  expect(await approvalOf()).toEqual({ waitingCommit: commit, commits: [] });
  await others.write.comment(at, text);
  const { weburl } = await harness.built(environment);
  await pageWith(weburl, 'offered');
  const by = `${others.write.name} at ${new URL(GITEA_URL).host}`;
  expect(await approvalOf()).toMatchObject({ commits: [{ commit, by }] });
}, 300_000);

test('gives pull requests of members an environment by a rule, and those of readers none', async () => {
  const origin = await gitea.createRepository('offered');
  await gitea.push('offered', { branch: 'main', files: page('from main') });
  const { username, password } = gitea.credentials;
  const repository = await addRepository('offered', { origin, username, password });
  const rules = [{ pullRequests: { author: 'member', forks: true }, environment: 'built' }];
  await harness.client.call(z.unknown(), 'POST', `/api/repository/${repository}/settings`, { sync: { rules } });
  await gitea.createWebhook('offered', await webhookOf(harness.client, repository));
  const numbers: number[] = [];
  for (const permission of ['read', 'write'] as const) {
    await gitea.addCollaborator('offered', others[permission].name, permission);
    numbers.push(await others[permission].offer(gitea.name, 'offered', permission, page(`from ${permission}`)));
  }
  const [ofReader, ofWriter] = numbers.map((number) => `pull request ${number}`);
  const found = await waitForRefs(repository, [ofWriter ?? '']);
  const { weburl } = await harness.built(found.get(ofWriter ?? '') ?? '');
  await pageWith(weburl, 'from write');

  // With credentials that cannot ask, nobody is known as a member.
  const { name, token } = others.write;
  const asOther = await addRepository('as-writer', { origin, username: name, password: token });
  await harness.client.call(z.unknown(), 'POST', `/api/repository/${asOther}/settings`, { sync: { rules } });
  await gitea.createWebhook('offered', await webhookOf(harness.client, asOther));
  await gitea.commit('offered', 'main', page('from the owner'), 'own');
  const own = await gitea.openPullRequest('offered', 'own', 'main');
  await waitForRefs(repository, [ofWriter ?? '', `pull request ${own}`]);
  const unmatched = await waitFor('the other repository to sync', 60, async () => {
    const { refs } = await harness.client.call(checkSchema, 'GET', `/api/repository/${asOther}/rules`);
    return refs.find(({ type, name: ref }) => type === 'pull request' && ref === `${own}`);
  });
  expect(unmatched.why).toContain('the host has not reported whether the author is a member');
  expect((await repositoryOf(asOther)).environments).toEqual([]);
  expect((await repositoryOf(repository)).environments.map(({ gitRef }) => gitRef.name)).not.toContain(ofReader);
}, 300_000);

test('refuses a delivery without a valid signature, whether the repository exists or not', async () => {
  const origin = await gitea.createRepository('signed');
  await gitea.push('signed', { branch: 'main', files: page('signed') });
  const { username, password } = gitea.credentials;
  const repository = await addRepository('signed', { origin, username, password });
  const webhook = await webhookOf(harness.client, repository);
  const deliver = (url: string, secret: string) =>
    send(url, githubDelivery(secret, 'push', { ref: 'refs/heads/main' }));
  const answers = [
    await deliver(webhook.url, `${webhook.secret}x`),
    await deliver(webhook.url.replace(/signed$/, 'nothing'), webhook.secret),
  ];
  expect(answers.map(({ status }) => status)).toEqual([401, 401]);
  expect(answers[0]?.text).toBe(answers[1]?.text);
  expect((await deliver(webhook.url, webhook.secret)).status).toBeLessThan(300);
}, 60_000);

test('builds a private repository over SSH once its key is a deploy key', async () => {
  await gitea.createRepository('by-ssh');
  await gitea.push('by-ssh', { branch: 'main', files: page('by ssh') });
  const repository = await addRepository('by-ssh', { origin: `${GITEA_SSH_URL}/${gitea.name}/by-ssh.git` });
  const ready = async () => (await repositoryOf(repository)).conditions.find(({ type }) => type === 'Ready');
  expect(await ready()).toMatchObject({ status: 'False', reason: 'KeyNotAccepted' });

  const path = `/api/repository/${repository}/settings`;
  const { sshPublicKey } = await harness.client.call(settingsSchema, 'GET', path);
  await gitea.addDeployKey('by-ssh', sshPublicKey);
  await harness.sync(repository);
  await waitFor('the repository to be Ready', 60, async () => ((await ready())?.status === 'True' ? true : undefined));

  const { weburl } = await harness.built(await harness.spawn(repository, 'main'));
  await pageWith(weburl, 'by ssh');
}, 300_000);
