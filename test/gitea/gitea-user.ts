import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { send } from '../client/local-http.ts';
import type { Kubectl } from '../cluster/kubectl.ts';
import { pushRepository, type Push } from '../sample/push-repository.ts';

export const giteaUrl = 'http://gitea.localhost:8080';
/** As pods reach it. */
export const giteaSshUrl = 'ssh://git@gitea-ssh.git.svc.cluster.local:2222';

const pullRequestSchema = z.looseObject({ number: z.int(), head: z.looseObject({ sha: z.string() }) });
const hookSchema = z.looseObject({ id: z.int() });

/** What Coppice's settings answer of a webhook. */
interface Webhook {
  url: string;
  secret: string;
}

/** A user of the Gitea in the cluster, made by its command line, and what one does there: by its REST API and by git. */
export class GiteaUser {
  readonly name: string;
  /** An access token, which git takes for a password. */
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

  /** Makes a private repository whose default branch is main; gives its URL over HTTP. */
  async createRepository(repository: string): Promise<string> {
    // An empty one takes for its default branch whichever of the first pushes Gitea sees to last.
    const body = { name: repository, private: true, auto_init: true, default_branch: 'main' };
    await this.#call(z.unknown(), 'POST', '/user/repos', body);
    return `${giteaUrl}/${this.name}/${repository}.git`;
  }

  /** Pushes files as one commit to a branch; gives the commit. */
  push(repository: string, push: Omit<Push, 'url' | 'credentials'>): Promise<string> {
    const url = `${giteaUrl}/${this.name}/${repository}.git`;
    return pushRepository({ ...push, url, credentials: this.credentials });
  }

  /** Makes a commit on top of `branch`: there, or as a new branch. */
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

  async closePullRequest(repository: string, number: number): Promise<void> {
    await this.#call(z.unknown(), 'PATCH', `/repos/${this.name}/${repository}/pulls/${number}`, { state: 'closed' });
  }

  /** Sets up a webhook for every event, as a person would who pastes the URL and the secret; gives its id. */
  async createWebhook(repository: string, { url, secret }: Webhook): Promise<number> {
    const config = { url, secret, content_type: 'json' };
    const events = ['push', 'create', 'delete', 'pull_request', 'pull_request_sync'];
    const body = { type: 'gitea', active: true, events, config };
    return (await this.#call(hookSchema, 'POST', `/repos/${this.name}/${repository}/hooks`, body)).id;
  }

  /** Lets whoever has the private half read the repository over SSH. */
  async addDeployKey(repository: string, key: string): Promise<void> {
    await this.#call(z.unknown(), 'POST', `/repos/${this.name}/${repository}/keys`, {
      title: 'Coppice',
      key,
      read_only: true,
    });
  }

  /** Takes the user away, with all that is the user's. */
  async remove(): Promise<void> {
    await command(this.#kubectl, 'delete', '--purge', '--username', this.name);
  }

  async #call<T>(schema: z.ZodType<T>, method: string, path: string, body?: unknown): Promise<T> {
    const answer = await send(`${giteaUrl}/api/v1${path}`, {
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
