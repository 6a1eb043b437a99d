import { expect } from '@jest/globals';
import { z } from 'zod';
import type { RepositoryType } from '../../crds/repository-source.ts';
import type { EnvironmentAnswer } from '../client/rest-client.ts';
import { send } from '../client/local-http.ts';
import { waitFor } from '../support/wait-for.ts';
import { STATES, statusesAt } from './commit-statuses.ts';
import { conditionOf, pageWith, randomName, startHarness, type Harness } from './harness.ts';
import { adminOf, connect, HOSTED, makeRepository, type TestRepository } from './test-hosts.ts';

const idSchema = z.looseObject({ id: z.string() });
const repositorySchema = z.looseObject({
  environments: z.array(z.object({ id: z.string(), gitRef: z.object({ name: z.string(), type: z.string() }) })),
});

interface Ref {
  type: string;
  name: string;
}
interface Built {
  id: string;
  weburl: string;
}

/** A name with slashes, letters of several scripts, and 200 characters. */
const longBranch = `feature/ünï-日本語/${'long/'.repeat(60)}`.slice(0, 199) + 'x';

export function addedRefs(
  harness: Harness,
  repository: string,
  refs: readonly string[],
  seconds = 60,
): Promise<unknown> {
  return waitFor(`environments of ${refs.join(', ')} alone`, seconds, async () => {
    const { environments } = await harness.client.call(repositorySchema, 'GET', `/api/repository/${repository}`);
    const found = [...new Set(environments.map(({ gitRef }) => `${gitRef.type} ${gitRef.name}`))].sort();
    if (found.join() === [...refs].sort().join()) return true;
    throw new Error(`there are ${found.join(', ')}`);
  });
}

/** A user with a group and a repository at one type of Git host. */
export class Journey {
  readonly harness: Harness;
  /** Secrets that must not appear anywhere. */
  readonly credentials: string[];
  readonly host: TestRepository;
  readonly type: RepositoryType;
  /** Value of the variable WORD. */
  readonly #word = randomName('word');
  #repository = '';

  private constructor(type: RepositoryType, harness: Harness, host: TestRepository) {
    this.type = type;
    this.harness = harness;
    this.host = host;
    this.credentials = [...host.credentials, harness.client.token ?? ''];
  }

  static async start(type: RepositoryType): Promise<Journey> {
    const harness = await startHarness(type);
    return new Journey(type, harness, await makeRepository(type, harness.group, harness.connection.gitUrl));
  }

  async run(): Promise<void> {
    const { client } = this.harness;
    const { host } = this;
    const refs = ['branch change', 'branch main', 'tag v1.0'];
    await host.push('refs/heads/main', 'main 1');
    await host.push('refs/heads/change', 'change 1');
    await host.push('refs/tags/v1.0', 'main 1');
    if (this.type === 'generic') {
      await host.push(`refs/heads/${longBranch}`, 'main 1');
      refs.push(`branch ${longBranch}`);
    }

    this.#repository = await this.harness.register({ name: 'shop', type: this.type, params: host.params });
    const variable = { name: 'WORD', value: this.#word, visibility: 'always' };
    await client.call(z.unknown(), 'POST', `/api/repository/${this.#repository}/variables`, variable);
    this.credentials.push((await connect(client, this.#repository, host)).secret);
    const number = await host.openPull('change');
    const forkNumber = await host.openForkPull?.('offer 1');
    await this.harness.sync(this.#repository);
    const pulls = [number, forkNumber].filter((one) => one !== undefined).map((one) => `pull request ${one}`);
    await addedRefs(this.harness, this.#repository, [...refs, ...pulls]);

    const pullRef = { type: 'pull request', name: `${number}` };
    const [pull] = await Promise.all([
      this.#spawn(pullRef, 'change 1', forkNumber === undefined ? 'none' : this.#word),
      this.#spawn({ type: 'branch', name: 'main' }, 'main 1', this.#word),
      this.#spawn({ type: 'tag', name: 'v1.0' }, 'main 1', this.#word),
      ...(this.type === 'generic' ? [this.#spawn({ type: 'branch', name: longBranch }, 'main 1', this.#word)] : []),
      ...(forkNumber === undefined ? [] : [this.#forked(forkNumber)]),
    ]);
    const trusted =
      forkNumber === undefined ? { status: 'False', reason: 'Unknown' } : { status: 'True', reason: 'SameRepository' };
    expect(conditionOf(await client.environment(pull.id), 'Trusted')).toMatchObject(trusted);

    const commit = await host.push('refs/heads/change', 'change 2');
    await pageWith(pull.weburl, 'change 2', 120);
    await this.#reported(pull, number, commit);

    for (const one of [number, forkNumber]) if (one !== undefined) await host.closePull(one);
    await addedRefs(this.harness, this.#repository, refs, 180);
    await waitFor(`${pull.weburl} to be gone`, 60, async () =>
      (await send(pull.weburl)).status === 404 ? true : undefined,
    );
  }

  async #spawn(gitRef: Ref, text: string, word: string): Promise<Built> {
    const path = `/api/repository/${this.#repository}/spawn`;
    const { id } = await this.harness.client.call(idSchema, 'POST', path, { gitRef });
    const { weburl } = await this.harness.built(id);
    expect(await pageWith(weburl, text)).toContain(`word: ${word}\n`);
    return { id, weburl };
  }

  /** Tests a fork's code: it gets no variables until the repository trusts forks. */
  async #forked(number: number): Promise<Built> {
    const { client } = this.harness;
    const built = await this.#spawn({ type: 'pull request', name: `${number}` }, 'offer 1', 'none');
    const environment = await client.environment(built.id);
    expect(conditionOf(environment, 'Trusted')).toMatchObject({ status: 'False', reason: 'Fork' });

    await this.#patch({ trustForks: true });
    const isTrusted = (one: EnvironmentAnswer) => conditionOf(one, 'Trusted')?.status === 'True';
    const trusted = await client.waitForEnvironment(built.id, isTrusted, 30);
    // hostile-fork.test.ts verifies what its next build gets.
    expect(conditionOf(trusted, 'Trusted')).toMatchObject({ reason: 'TrustForks' });
    return built;
  }

  /**
   * Verifies the reports on each commit, in order: a status with the environment's address, or with the panel's page of
   * its log; and one comment on the pull request, for any number of environments and builds.
   */
  async #reported({ id, weburl }: Built, number: number, commit: string): Promise<void> {
    const record = this.host.record?.bind(this.host);
    if (!record || this.type === 'generic') return;
    const { pending, success, failure } = STATES[this.type];
    expect(await this.#statusesOf(id, commit, success)).toMatchObject([{ state: pending }, { targetUrl: weburl }]);

    // Two built environments are tested only once, because hosts do not differ here.
    const ids = [id];
    const gitRef = { type: 'pull request', name: `${number}` };
    if (this.type === 'ownerhost') ids.push((await this.#spawn(gitRef, 'change 2', this.#word)).id);
    const broken = await this.host.pushBroken('refs/heads/change', 'it-breaks');
    for (const environment of ids) {
      const statuses = await this.#statusesOf(environment, broken, failure);
      // A report to which the host responded too late is repeated.
      const moves = statuses.map(({ state }) => state).filter((state, index, all) => state !== all[index - 1]);
      expect(moves).toEqual([pending, failure]);
      for (const { targetUrl } of statuses) {
        const { origin, pathname, search } = new URL(targetUrl);
        expect(pathname).toBe(`/environments/${environment}`);
        expect(await send(targetUrl)).toMatchObject({
          status: 200,
          headers: { 'content-type': 'text/html; charset=utf-8' },
        });
        const log = await this.harness.client.send('GET', `/api/environment/${environment}/build/logs${search}`);
        expect(origin).toBe(this.harness.connection.apiUrl);
        expect(log).toMatchObject({ status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' } });
        expect(log.text).toMatch(/\] .*it-breaks\n(.*\n)*-- build failed: /);
      }
    }
    await waitFor('one comment that reports all', 60, async () => {
      const { comments, deliveries } = await record();
      const bodies = comments.filter(({ pullRequest }) => pullRequest === number).map(({ body }) => body);
      expect(bodies).toHaveLength(1);
      expect(deliveries.filter(({ status }) => status !== 200 && status !== 202)).toEqual([]);
      const failed = bodies[0]?.match(/^\*\*Environment (.*)\*\*\n\nBuild \d+ of `\w+` failed:$/gm) ?? [];
      if (failed.length === ids.length) return true;
      throw new Error(`it is ${bodies[0] ?? ''}`);
    });
  }

  #statusesOf(environment: string, commit: string, last: string) {
    return statusesAt(this.host, { context: `coppice/${environment}`, commit }, last, 120);
  }

  /**
   * Makes the host respond only with 500, and has Coppice check the repository again, as each change of its spec does.
   */
  async breakHost(): Promise<void> {
    if (this.type === 'generic') throw new Error('this host cannot be reported to fail');
    await adminOf(this.type).setFaults(HOSTED[this.type].path(this.harness.group), [{ match: '.', answer: 500 }]);
    await this.#patch({ sync: { intervalSeconds: 600 } });
  }

  async #patch(spec: object): Promise<void> {
    const { group, kubectl } = this.harness;
    const at = ['repositories.coppice.dev', 'shop', '--namespace', `group-${group}`];
    await kubectl(['patch', ...at, '--type', 'merge', '--patch', JSON.stringify({ spec })]);
  }

  async end(): Promise<void> {
    await this.harness.remove();
    await this.host.remove();
  }
}
