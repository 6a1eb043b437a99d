import { randomUUID } from 'node:crypto';
import type { RepositoryType } from '../../crds/repository-source.ts';
import { githubDelivery } from '../client/github-delivery.ts';
import { send } from '../client/local-http.ts';
import type { RestClient } from '../client/rest-client.ts';
import { webhookOf, type WebhookAnswer } from '../client/webhook-of.ts';
import { HostAdmin, type HostRecord } from '../git-hosts/host-admin.ts';
import type { KindName } from '../git-hosts/kind.ts';
import { GRANTS, type Grant } from '../git-hosts/repositories.ts';
import { deleteRef, pushRepository } from '../sample/push-repository.ts';
import { brokenPage, smallPage } from './small-page.ts';

/** A repository at one of the kinds of Git host, and what somebody who works there does. */
export interface TestRepository {
  /** `params` of the call that adds it to a group. */
  params: Record<string, string>;
  /** What of it nobody may ever read. */
  credentials: readonly string[];
  /** Pushes a page to the ref of this full name, as one commit; gives the commit. */
  push(ref: string, text: string): Promise<string>;
  /** Pushes what cannot be built; its build says the text. */
  pushBroken(ref: string, text: string): Promise<string>;
  openPull(branch: string): Promise<number>;
  /** A pull request of a stranger's repository with a page of this text; absent where the host knows no forks. */
  openForkPull?(text: string): Promise<number>;
  closePull(number: number): Promise<void>;
  /** Enters the webhook where Coppice could not make it. */
  enterWebhook?(webhook: { url: string; secret: string }): void;
  /** What the host received and delivered; absent where it keeps nothing but commits. */
  record?(): Promise<HostRecord>;
  remove(): Promise<void>;
}

interface HostedKind {
  path: (owner: string) => string;
  gitPath: (owner: string) => string;
  /** Somebody else's, which may be forked from it. */
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
    // No access token reaches into another workspace: a fork there is public, or is not read.
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

/** At an emulated host, which keeps a record and knows forks. */
export type HostedRepository = TestRepository &
  Required<Pick<TestRepository, 'record' | 'openForkPull'>> & {
    /** Pushes files of any kind, as push does. */
    pushFiles(ref: string, files: Record<string, string>): Promise<string>;
  };

/** A private repository of this owner, with a token that may do all that Coppice asks for, or what is said. */
export async function makeHosted(
  kind: KindName,
  owner: string,
  grants: readonly Grant[] = GRANTS,
): Promise<HostedRepository> {
  const { path: pathOf, gitPath, fork, username, params } = HOSTED[kind];
  const path = pathOf(owner);
  const [token, pusher] = [randomUUID(), randomUUID()];
  const admin = adminOf(kind);
  const credentials = { username, password: pusher };
  const url = `${hostUrl(kind)}/${gitPath(owner)}`;
  await admin.put(path, { tokens: { [token]: grants, [pusher]: ['push'] } });
  return {
    params: params(owner, token),
    credentials: [token],
    push: pushTo(url, credentials),
    pushFiles: (ref, files) => pushRepository({ url, branch: 'work', ref, files, credentials }),
    pushBroken: pushTo(url, credentials, brokenPage),
    openPull: (branch) => admin.openPull(path, { branch }),
    async openForkPull(text) {
      const from = fork.path(owner);
      await admin.put(from, {
        forkOf: path,
        isPrivate: fork.isPrivate,
        tokens: { [pusher]: ['push'], ...(fork.isPrivate && { [token]: [] }) },
      });
      await pushTo(`${hostUrl(kind)}/${fork.gitPath(owner)}`, credentials)('refs/heads/offer', text);
      return admin.openPull(path, { branch: 'offer', from });
    },
    closePull: (number) => admin.closePull(path, number),
    record: () => admin.record(path),
    async remove() {
      await admin.remove(fork.path(owner));
      await admin.remove(path);
    },
  };
}

/** A private repository on the Git server, where pull requests are no more than a ref and somebody's webhook calls. */
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
      // Until git has it no more, closed is what anybody could say who knows the webhook's secret.
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

/** The webhook of a repository: Coppice makes it itself where it may; otherwise it says what is to be entered, which is done. */
export async function connect(client: RestClient, repository: string, host: TestRepository): Promise<WebhookAnswer> {
  const enter = host.enterWebhook?.bind(host);
  const webhook = await webhookOf(client, repository, ({ created }) => created === (enter === undefined));
  enter?.(webhook);
  return webhook;
}
