import { randomUUID } from 'node:crypto';
import type { RepositoryType } from '../../crds/repository-source.ts';
import { githubDelivery } from '../client/github-delivery.ts';
import { send } from '../client/local-http.ts';
import type { RestClient } from '../client/rest-client.ts';
import { webhookOf, type WebhookAnswer } from '../client/webhook-of.ts';
import { HostAdmin, type HostRecord } from '../git-hosts/host-admin.ts';
import type { KindName } from '../git-hosts/kind.ts';
import { GRANTS, type Grant, type Role } from '../git-hosts/repositories.ts';
import { deleteRef, pushRepository } from '../sample/push-repository.ts';
import { brokenPage, smallPage } from './small-page.ts';

/** A repository at one type of Git host, and actions of a developer there. */
export interface TestRepository {
  /** `params` of the request that adds it to a group. */
  params: Record<string, string>;
  /** Its secrets, which nobody must be able to read. */
  credentials: readonly string[];
  /** Pushes a page to the ref of this full name, as one commit; returns the commit. */
  push(ref: string, text: string): Promise<string>;
  /** Pushes files that cannot be built; the build prints the text. */
  pushBroken(ref: string, text: string): Promise<string>;
  openPull(branch: string): Promise<number>;
  /** Opens a pull request from a stranger's fork with a page of this text; absent if the host has no forks. */
  openForkPull?(text: string): Promise<number>;
  closePull(number: number): Promise<void>;
  /** Enters the webhook manually, if Coppice could not create it. */
  enterWebhook?(webhook: { url: string; secret: string }): void;
  /** Returns what the host received and delivered; absent if it stores only commits. */
  record?(): Promise<HostRecord>;
  remove(): Promise<void>;
}

interface HostedKind {
  path: (owner: string) => string;
  gitPath: (owner: string) => string;
  /** A fork that belongs to somebody else. */
  fork: { path: (owner: string) => string; gitPath: (owner: string) => string; isPrivate: boolean };
  username: string;
  params: (owner: string, token: string) => Record<string, string>;
}

export const HOSTED: Record<KindName, HostedKind> = {
  ownerhost: {
    path: (owner) => `${owner}/shop`,
    gitPath: (owner) => `${owner}/shop.git`,
    username: 'x-access-token',
    fork: {
      path: (owner) => `${owner}-mallory/shop`,
      gitPath: (owner) => `${owner}-mallory/shop.git`,
      isPrivate: true,
    },
    params: (owner, token) => ({ owner, repo: 'shop', token }),
  },
  groupedhost: {
    path: (owner) => `${owner}/web/shop`,
    gitPath: (owner) => `${owner}/web/shop.git`,
    username: 'oauth2',
    fork: {
      path: (owner) => `${owner}-mallory/shop`,
      gitPath: (owner) => `${owner}-mallory/shop.git`,
      isPrivate: true,
    },
    params: (owner, token) => ({ instanceUrl: '', group: `${owner}/web`, project: 'shop', token }),
  },
  cloudorg: {
    path: (owner) => `${owner}/The Web/shop`,
    gitPath: (owner) => `${owner}/The%20Web/_git/shop`,
    username: 'pat',
    fork: {
      path: (owner) => `${owner}/The Web/shop.mallory`,
      gitPath: (owner) => `${owner}/The%20Web/_git/shop.mallory`,
      isPrivate: true,
    },
    params: (owner, accessToken) => ({ orgUrl: orgUrl(owner), project: 'The Web', repoName: 'shop', accessToken }),
  },
  workspacehost: {
    path: (owner) => `${owner}/shop`,
    gitPath: (owner) => `${owner}/shop.git`,
    username: 'x-token-auth',
    // An access token is valid in only one workspace: a fork in another one is public, or cannot be read.
    fork: {
      path: (owner) => `${owner}-mallory/shop`,
      gitPath: (owner) => `${owner}-mallory/shop.git`,
      isPrivate: false,
    },
    params: (owner, token) => ({ workspace: owner, repository: 'shop', token }),
  },
};

const hostUrl = (kind: KindName): string => `http://${kind}.localhost:8080`;
const orgUrl = (owner: string): string => `${hostUrl('cloudorg')}/${owner}`;
export const adminOf = (kind: KindName): HostAdmin => new HostAdmin(hostUrl(kind));

type Credentials = { username: string; password: string };

function pushTo(url: string, credentials: Credentials, makeFiles = smallPage): TestRepository['push'] {
  return (ref, text) => pushRepository({ url, branch: 'work', ref, files: makeFiles(text), credentials });
}

/** A repository at an emulated host, which records requests and has forks. */
export type HostedRepository = TestRepository &
  Required<Pick<TestRepository, 'record' | 'openForkPull'>> & {
    /** Pushes arbitrary files, as push does. */
    pushFiles(ref: string, files: Record<string, string>): Promise<string>;
    /** Opens a pull request from a stranger's fork with these files, as openForkPull does. */
    openForkPullWith(files: Record<string, string>): Promise<number>;
    /** Pushes these files to the branch of a stranger's fork from which openForkPull opens pull requests. */
    pushFork(files: Record<string, string>): Promise<string>;
    retarget(number: number, branch: string): Promise<void>;
    /**
     * Renames the repository; a stranger takes its path with a public one, in which these files are on the branch main
     * and in pull requests of its own up to this number.
     */
    takeOver(files: Record<string, string>, number: number): Promise<void>;
  };

/**
 * Creates a private repository of this owner, with a token that permits everything that Coppice needs, or what is
 * given.
 */
export async function makeHosted(
  kind: KindName,
  owner: string,
  grants: readonly Grant[] = GRANTS,
  people: Record<string, Role> = {},
): Promise<HostedRepository> {
  const { path: pathOf, gitPath, fork, username, params } = HOSTED[kind];
  const path = pathOf(owner);
  const [token, pusher] = [randomUUID(), randomUUID()];
  const admin = adminOf(kind);
  const credentials = { username, password: pusher };
  const url = `${hostUrl(kind)}/${gitPath(owner)}`;
  await admin.put(path, { tokens: { [token]: grants, [pusher]: ['push'] }, people });
  const pushFork = (files: Record<string, string>) => {
    const forkUrl = `${hostUrl(kind)}/${fork.gitPath(owner)}`;
    return pushRepository({ url: forkUrl, branch: 'work', ref: 'refs/heads/offer', files, credentials });
  };
  const openForkPullWith = async (files: Record<string, string>) => {
    const from = fork.path(owner);
    await admin.put(from, {
      forkOf: path,
      isPrivate: fork.isPrivate,
      tokens: { [pusher]: ['push'], ...(fork.isPrivate && { [token]: [] }) },
    });
    await pushFork(files);
    return admin.openPull(path, { branch: 'offer', from });
  };
  return {
    params: params(owner, token),
    credentials: [token],
    push: pushTo(url, credentials),
    pushFiles: (ref, files) => pushRepository({ url, branch: 'work', ref, files, credentials }),
    pushBroken: pushTo(url, credentials, brokenPage),
    openPull: (branch) => admin.openPull(path, { branch }),
    openForkPull: (text) => openForkPullWith(smallPage(text)),
    openForkPullWith,
    pushFork,
    retarget: (number, branch) => admin.retarget(path, number, branch),
    async takeOver(files, number) {
      await admin.move(path, `${path}-renamed`);
      await admin.put(path, { isPrivate: false, tokens: { [pusher]: ['push'] } });
      for (const ref of ['refs/heads/main', 'refs/heads/own']) {
        await pushRepository({ url, branch: 'work', ref, files, credentials });
      }
      for (let opened = 0; opened < number;) opened = await admin.openPull(path, { branch: 'own' });
    },
    closePull: (number) => admin.closePull(path, number),
    record: () => admin.record(path),
    async remove() {
      for (const one of [fork.path(owner), path, `${path}-renamed`]) await admin.remove(one);
    },
  };
}

/** Creates a private repository on the Git server, where pull requests are only refs and webhook calls. */
async function makeGeneric(owner: string, gitUrl: string): Promise<TestRepository> {
  const url = `${gitUrl}/${owner}/shop.git`;
  const credentials = { username: 'reader', password: `a "quoted" p@ss ${randomUUID()}` };
  const made = await send(`${gitUrl}/admin/repositories/${owner}/shop`, {
    method: 'PUT',
    body: JSON.stringify(credentials),
  });
  if (made.status !== 200) throw new Error(`${url}: ${made.status} ${made.text}`);
  const push = pushTo(url, credentials);
  const pulls = new Map<string, string>();
  let webhook: { url: string; secret: string } | undefined;
  const report = async (event: string, body: object) => {
    if (!webhook) return;
    const answer = await send(webhook.url, githubDelivery(webhook.secret, event, body));
    if (answer.status >= 300) throw new Error(`${event}: ${answer.status} ${answer.text}`);
  };
  return {
    params: { origin: url, ...credentials },
    credentials: [credentials.password],
    async push(ref, text) {
      const commit = await push(ref, text);
      const head = pulls.get(ref);
      if (head !== undefined) await push(head, text);
      await report('push', { ref, after: commit });
      return commit;
    },
    pushBroken: pushTo(url, credentials, brokenPage),
    async openPull(branch) {
      const number = pulls.size + 1;
      const head = `refs/pull/${number}/head`;
      pulls.set(`refs/heads/${branch}`, head);
      await push(head, `${branch} 1`);
      await report('pull_request', { action: 'opened', number });
      return number;
    },
    async closePull(number) {
      // Until Git has lost the ref, anyone who knows the webhook's secret could report it as closed.
      await deleteRef(url, `refs/pull/${number}/head`, credentials);
      await report('pull_request', { action: 'closed', number });
    },
    enterWebhook: (entered) => void (webhook = entered),
    remove: async () => {
      await send(`${gitUrl}/admin/repositories/${owner}/shop`, { method: 'DELETE' });
    },
  };
}

export function makeRepository(type: RepositoryType, owner: string, gitUrl: string): Promise<TestRepository> {
  return type === 'generic' ? makeGeneric(owner, gitUrl) : makeHosted(type, owner);
}

/**
 * Sets up the webhook of a repository: Coppice creates it if it is permitted to; otherwise enters what Coppice reports.
 */
export async function connect(client: RestClient, repository: string, host: TestRepository): Promise<WebhookAnswer> {
  const enter = host.enterWebhook?.bind(host);
  const webhook = await webhookOf(client, repository, ({ created }) => created === (enter === undefined));
  enter?.(webhook);
  return webhook;
}
