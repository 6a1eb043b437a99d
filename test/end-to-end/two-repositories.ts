// A page at an emulated Git host that includes a private API on the Git server.
import { randomUUID } from 'node:crypto';
import { stringify } from 'yaml';
import { z } from 'zod';
import { send } from '../client/local-http.ts';
import type { EnvironmentAnswer } from '../client/rest-client.ts';
import { waitFor } from '../support/wait-for.ts';
import { pushRepository } from '../sample/push-repository.ts';
import { pageWith, startHarness, type Harness } from './harness.ts';
import { makeHosted, type HostedRepository } from './test-hosts.ts';

export const SECRET_WORD = `word-${randomUUID()}`;
export const CREDENTIALS = { username: 'reader', password: `password-${randomUUID()}` };
const included = [{ name: 'backend', fallback: 'main', alias: 'api' }];

export function page(text: string, repositories: object[] = included, dependsOn = ['api']): Record<string, string> {
  const web = { build: '.', ports: ['8080:8080'], depends_on: dependsOn };
  return {
    'compose.yaml': stringify({ services: { web }, 'x-coppice': { repositories } }),
    Dockerfile: 'FROM busybox:1\nCOPY index.html /www/\nCMD ["httpd", "-f", "-p", "8080", "-h", "/www"]\n',
    'index.html': `${text}\n`,
  };
}

export function api(text: string, service = 'api'): Record<string, string> {
  const run = 'echo "word: $WORD" >>/www/index.html; exec httpd -f -p 8080 -h /www';
  const services = {
    [service]: { build: '.', ports: ['8080:8080'], environment: { WORD: '${WORD:-none}' }, volumes: ['data:/data'] },
  };
  return {
    'compose.yaml': stringify({ services, volumes: { data: {} } }),
    Dockerfile: `FROM busybox:1\nCOPY index.html /www/\nCMD ${run}\n`,
    'index.html': `${text}\n`,
  };
}

const environmentSchema = z.looseObject({
  commit: z.string().optional(),
  repositories: z.array(
    z.looseObject({ id: z.string(), branch: z.string().optional(), commit: z.string().optional() }),
  ),
});

export class TwoRepositories {
  readonly harness: Harness;
  readonly shop: HostedRepository;
  readonly shopId: string;
  readonly backendId: string;

  private constructor(harness: Harness, shop: HostedRepository, shopId: string, backendId: string) {
    this.harness = harness;
    this.shop = shop;
    this.shopId = shopId;
    this.backendId = backendId;
  }

  /** Pushes and adds both: the page has the branches `main` and `feature`, the API only `main`. */
  static async start(purpose: string): Promise<TwoRepositories> {
    const harness = await startHarness(purpose);
    const { group, connection, client } = harness;
    const shop = await makeHosted('ownerhost', group);
    const path = `${connection.gitUrl}/admin/repositories/${group}/backend`;
    const made = await send(path, { method: 'PUT', body: JSON.stringify(CREDENTIALS) });
    if (made.status !== 200) throw new Error(`${path}: ${made.status} ${made.text}`);
    const origin = `${connection.gitUrl}/${group}/backend.git`;
    const main = { url: origin, branch: 'main', files: api('api 1'), credentials: CREDENTIALS };
    await Promise.all([shop.pushFiles('refs/heads/feature', page('page 1')), pushRepository(main)]);
    // The target of the pull requests.
    await shop.pushFiles('refs/heads/main', page('main'));
    const shopId = await harness.register({ name: 'shop', type: 'ownerhost', params: shop.params });
    const backendId = await harness.register({ name: 'backend', type: 'generic', params: { origin, ...CREDENTIALS } });
    const variable = { name: 'WORD', value: SECRET_WORD, visibility: 'always' };
    await client.call(z.unknown(), 'POST', `/api/repository/${backendId}/variables`, variable);
    return new TwoRepositories(harness, shop, shopId, backendId);
  }

  /** Returns the commit. */
  pushBackend(branch: string, files: Record<string, string>): Promise<string> {
    const url = `${this.harness.connection.gitUrl}/${this.harness.group}/backend.git`;
    return pushRepository({ url, branch, files, credentials: CREDENTIALS });
  }

  /** Spawns a pull request of the page. */
  spawnPull(number: number): Promise<string> {
    return this.harness.spawn(this.shopId, '', { gitRef: { name: `${number}`, type: 'pull request' } });
  }

  /** Returns the included repositories of an environment. */
  async includedIn(id: string) {
    const path = `/api/environment/${id}?build=false`;
    return (await this.harness.client.call(environmentSchema, 'GET', path)).repositories;
  }

  /** Waits until an environment reports this commit of the API: it does so after its page is shown. */
  async waitForCommit(id: string, commit: string): Promise<void> {
    await waitFor(`${id} to report ${commit}`, 60, async () => {
      const [backend] = await this.includedIn(id);
      return backend?.commit === commit ? true : undefined;
    });
  }

  async remove(): Promise<void> {
    await this.harness.remove();
    await this.shop.remove();
  }
}

/** Waits for the page of the included repository, at the host of its alias. */
export const apiOf = ({ aliases }: EnvironmentAnswer, text: string) => pageWith(aliases['api'] ?? '', text, 90);
