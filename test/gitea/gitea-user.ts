import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { send } from '../client/local-http.ts';
import type { Kubectl } from '../cluster/kubectl.ts';
import { pushRepository, type Push } from '../sample/push-repository.ts';

export const GITEA_URL = 'http://gitea.localhost:8080';
/** The address for pods. */
export const GITEA_SSH_URL = 'ssh://git@gitea-ssh.git.svc.cluster.local:2222';

const pullRequestSchema = z.looseObject({ number: z.int(), head: z.looseObject({ sha: z.string() }) });
const hookSchema = z.looseObject({ id: z.int() });

/** A webhook in Coppice's repository settings. */
interface Webhook {
  url: string;
  secret: string;
}

interface CommentedPullRequest {
  owner: string;
  repository: string;
  number: number;
}

/** A user of the cluster's Gitea, created with its command line, who acts through its REST API and git. */
export class GiteaUser {
  readonly name: string;
  /** An access token, which git uses as a password. */
  readonly token: string;
  readonly #kubectl: Kubectl;

  private constructor(name: string, token: string, kubectl: Kubectl) {
    this.name = name;
    this.token = token;
    this.#kubectl = kubectl;
  }

  static async create(kubectl: Kubectl): Promise<GiteaUser> {
    const name = `user-${randomBytes(4).toString('hex')}`;
    const email = ['--email', `${name}@example.com`, '--random-password', '--must-change-password=false'];
    const reported = await command(kubectl, 'create', '--username', name, ...email, '--access-token');
    const token = /^Access token was successfully created\W+(\w+)$/m.exec(reported)?.[1];
    if (token === undefined) throw new Error('Gitea reported no access token');
    return new GiteaUser(name, token, kubectl);
  }

  get credentials(): { username: string; password: string } {
    return { username: this.name, password: this.token };
  }

  /** Creates a private repository with the default branch main; returns its URL over HTTP. */
  async createRepository(repository: string): Promise<string> {
    // In an empty repository, the default branch would be any of the first pushed ones.
    const body = { name: repository, private: true, auto_init: true, default_branch: 'main' };
    await this.#call(z.unknown(), 'POST', '/user/repos', body);
    return `${GITEA_URL}/${this.name}/${repository}.git`;
  }

  /** Pushes files as one commit to a branch; returns the commit. */
  push(repository: string, push: Omit<Push, 'url' | 'credentials'>): Promise<string> {
    const url = `${GITEA_URL}/${this.name}/${repository}.git`;
    return pushRepository({ ...push, url, credentials: this.credentials });
  }

  /** Creates a commit on top of `branch`, there or as a new branch. */
  async commit(
    repository: string,
    branch: string,
    files: Record<string, string>,
    newBranch: string = branch,
  ): Promise<void> {
    await this.#call(z.unknown(), 'POST', `/repos/${this.name}/${repository}/contents`, {
      branch,
      new_branch: newBranch,
      message: 'Another page',
      files: Object.entries(files).map(([path, text]) => ({
        operation: 'upload',
        path,
        content: Buffer.from(text).toString('base64'),
      })),
    });
  }

  async createTag(repository: string, tag: string, target: string): Promise<void> {
    await this.#call(z.unknown(), 'POST', `/repos/${this.name}/${repository}/tags`, { tag_name: tag, target });
  }

  async deleteBranch(repository: string, branch: string): Promise<void> {
    await this.#call(z.unknown(), 'DELETE', `/repos/${this.name}/${repository}/branches/${branch}`);
  }

  async openPullRequest(repository: string, head: string, base: string): Promise<number> {
    const body = { title: `Merge ${head}`, head, base };
    return (await this.#call(pullRequestSchema, 'POST', `/repos/${this.name}/${repository}/pulls`, body)).number;
  }

  /** Forks another user's repository with a change on a new branch, and opens a pull request there; returns its number. */
  async offer(owner: string, repository: string, branch: string, files: Record<string, string>): Promise<number> {
    await this.#call(z.unknown(), 'POST', `/repos/${owner}/${repository}/forks`, {});
    await this.commit(repository, 'main', files, branch);
    const body = { title: `Merge ${branch}`, head: `${this.name}:${branch}`, base: 'main' };
    return (await this.#call(pullRequestSchema, 'POST', `/repos/${owner}/${repository}/pulls`, body)).number;
  }

  async closePullRequest(repository: string, number: number): Promise<void> {
    await this.#call(z.unknown(), 'PATCH', `/repos/${this.name}/${repository}/pulls/${number}`, { state: 'closed' });
  }

  async addCollaborator(repository: string, user: string, permission: 'read' | 'write'): Promise<void> {
    const path = `/repos/${this.name}/${repository}/collaborators/${user}`;
    await this.#call(z.unknown(), 'PUT', path, { permission });
  }

  /** Comments on a pull request of another user's repository. */
  async comment({ owner, repository, number }: CommentedPullRequest, body: string): Promise<void> {
    await this.#call(z.unknown(), 'POST', `/repos/${owner}/${repository}/issues/${number}/comments`, { body });
  }

  /** Adds a webhook for every event, as a user does who pastes the URL and the secret; returns its ID. */
  async createWebhook(repository: string, { url, secret }: Webhook): Promise<number> {
    const config = { url, secret, content_type: 'json' };
    const events = ['push', 'create', 'delete', 'pull_request', 'pull_request_sync', 'pull_request_comment'];
    const body = { type: 'gitea', active: true, events, config };
    return (await this.#call(hookSchema, 'POST', `/repos/${this.name}/${repository}/hooks`, body)).id;
  }

  /** Permits reading the repository over SSH with this key. */
  async addDeployKey(repository: string, key: string): Promise<void> {
    await this.#call(z.unknown(), 'POST', `/repos/${this.name}/${repository}/keys`, {
      title: 'Coppice',
      key,
      read_only: true,
    });
  }

  /** Deletes the user with all their data. */
  async remove(): Promise<void> {
    await command(this.#kubectl, 'delete', '--purge', '--username', this.name);
  }

  async #call<T>(schema: z.ZodType<T>, method: string, path: string, body?: unknown): Promise<T> {
    const answer = await send(`${GITEA_URL}/api/v1${path}`, {
      method,
      headers: { authorization: `token ${this.token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (answer.status >= 300) throw new Error(`Gitea, ${method} ${path}: ${answer.status} ${answer.text}`);
    return schema.parse(answer.text === '' ? undefined : JSON.parse(answer.text));
  }
}

/** Runs `gitea admin user …` in its pod. */
function command(kubectl: Kubectl, ...args: string[]): Promise<string> {
  const script = 'exec gitea --config "$GITEA_APP_INI" admin user "$@"';
  return kubectl(['--namespace', 'git', 'exec', 'deployment/gitea', '--', 'sh', '-c', script, 'sh', ...args]);
}
