import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Repository } from '../../crds/repository.ts';
import { createSend } from '../../operator/source/network/send.ts';
import { GitHosts } from '../../operator/source/hosts/git-hosts.ts';
import { HostHttp } from '../../operator/source/hosts/host-http.ts';
import type { GitHost } from '../../operator/source/hosts/host.ts';
import { portOf } from '../../operator/source/network/addresses.ts';
import { Source } from '../../operator/source/git/source.ts';
import { pushRepository } from '../sample/push-repository.ts';
import type { Fault } from './faults.ts';
import { firstParts, type KindName } from './kind.ts';
import { startHost } from './running-host.ts';
import type { RunningHost } from './running-host.ts';
import { groupFlows } from '../../operator/source/hosts/testing/group-flows.ts';

interface Case {
  kind: KindName;
  path: string;
  fork: string;
  spec: (url: string) => object;
}

const cases: Case[] = [
  {
    kind: 'ownerhost',
    path: 'acme/shop',
    fork: 'mallory/shop',
    spec: (instanceUrl) => ({ instanceUrl, owner: 'acme', repo: 'shop' }),
  },
  {
    kind: 'groupedhost',
    path: 'acme/web/shop',
    fork: 'mallory/shop',
    spec: (instanceUrl) => ({ instanceUrl, group: 'acme/web', project: 'shop' }),
  },
  {
    kind: 'cloudorg',
    path: 'acme/The Web/shop',
    fork: 'acme/The Web/shop.mallory',
    spec: (url) => ({ orgUrl: `${url}/acme`, project: 'The Web', repoName: 'shop' }),
  },
  {
    kind: 'workspacehost',
    path: 'acme/shop',
    fork: 'mallory/shop',
    spec: () => ({ workspace: 'acme', repository: 'shop' }),
  },
];

const token = 'a-token-of-the-test';
const reader = 'a-token-that-reads';
/** More than the longest page of any host. */
const pullCount = 103;

type Ask = 'the repository' | 'its pull requests' | 'its refs';
/** Requests that are sent while the host fails where `match` matches. */
const asks: Record<Ask, { match: string; ask: (host: GitHost, source: Source) => Promise<unknown> }> = {
  'the repository': { match: '.', ask: (host) => host.check() },
  'its pull requests': { match: '/(pulls|merge_requests|pullrequests)', ask: (host) => host.openPullRequests() },
  'its refs': { match: '/info/refs', ask: (host, source) => source.listRefs(host.access) },
};
const api = ['the repository', 'its pull requests'] as const;
const everything = [...api, 'its refs'] as const;

/**
 * The fault, where it occurs, and the resulting error. git does not distinguish 403 from 401, and reports no
 * Retry-After.
 */
const faults: [string, Omit<Fault, 'match'>, readonly Ask[], object][] = [
  ['401', { answer: 401 }, everything, { name: 'SourceRefusedError', reason: 'AuthenticationFailed' }],
  ['403', { answer: 403 }, api, { name: 'SourceRefusedError', reason: 'Forbidden' }],
  ['403', { answer: 403 }, ['its refs'], { name: 'SourceRefusedError', reason: 'AuthenticationFailed' }],
  ['404', { answer: 404 }, everything, { name: 'SourceRefusedError', reason: 'NotFound' }],
  ['429', { answer: 429, headers: { 'retry-after': '7' } }, api, { name: 'HostBusyError', retryAfterMs: 7000 }],
  ['429', { answer: 429, headers: { 'retry-after': '7' } }, ['its refs'], { name: 'SourceUnreachableError' }],
  ['500', { answer: 500 }, everything, { name: 'SourceUnreachableError' }],
  ['a hang', { answer: 'hang' }, everything, { name: 'HostTimeoutError' }],
  ['half an answer', { answer: 'half' }, everything, { name: 'SourceUnreachableError' }],
  ['half of the JSON', { answer: 'not JSON' }, api, { name: 'SourceUnreachableError' }],
  ['pages without end', { answer: 'page loop' }, ['its pull requests'], { name: 'SourceUnreachableError' }],
];
const failures = faults.flatMap(([what, fault, asked, error]) =>
  asked.map((ask) => [ask, what, fault, error] as const),
);

function sourceAt(url: string, timeoutMs = 10_000): Source {
  const ports = [portOf(new URL(url))];
  return new Source({ scratch: tmpdir(), isAddressAllowed: () => true, ports, sshPorts: [], timeoutMs });
}

/** Returns a client as the operator uses it, with git and an empty cache. */
function clientOf(
  url: string,
  kind: KindName,
  spec: object,
  withToken: string,
  { timeoutMs = 10_000 } = {},
): Promise<GitHost> {
  const ports = [portOf(new URL(url))];
  const data = { token: Buffer.from(withToken).toString('base64') };
  const hosts = new GitHosts({
    client: { find: () => Promise.resolve({ metadata: { name: 'git' }, data }) } as never,
    source: sourceAt(url, timeoutMs),
    http: new HostHttp({ send: createSend({ timeoutMs }), ports, now: () => new Date() }),
    sshKeys: { access: () => Promise.reject(new Error('no SSH here')), publicKey: () => Promise.resolve(undefined) },
    flows: groupFlows,
    defaults: {
      ownerhost: { webUrl: 'https://github.com', apiUrl: 'https://api.github.com' },
      groupedhost: { webUrl: 'https://gitlab.com' },
      workspacehost: { webUrl: url, apiUrl: `${url}/2.0` },
    },
  });
  return hosts.of({
    metadata: { name: 'shop', namespace: 'group-acme' },
    spec: { type: kind, [kind]: { ...spec, credentialsSecret: 'git' } },
  } as unknown as Repository);
}

/** The operator's clients with a host whose responses have the published types (official-clients.test.ts). */
describe.each(cases)('$kind', ({ kind, path, fork, spec }) => {
  let local: RunningHost;
  let host: GitHost;
  let commit: string;
  let source: Source;

  beforeAll(async () => {
    local = await startHost(kind);
    const grants = ['push', 'statuses', 'comments', 'hooks'] as const;
    // The emulated owner is the author of the pull requests from the repository itself.
    const people = { ann: 'write', carl: 'read', [firstParts(path)]: 'write' } as const;
    await local.admin.put(path, { isPrivate: true, tokens: { [token]: [...grants], [reader]: [] }, people });
    host = await clientOf(local.url, kind, spec(local.url), token);
    const { origin, credentials } = host.access;
    const repository = { url: origin, ...(credentials && { credentials }) };
    await pushRepository({ ...repository, branch: 'main', files: { 'a.txt': '1' } });
    commit = await pushRepository({ ...repository, branch: 'feature/a', files: { 'a.txt': '2' } });
    // At Bitbucket no access token is valid in another workspace, so only public forks are read.
    await local.admin.put(fork, { forkOf: path, isPrivate: kind !== 'workspacehost', tokens: { [token]: [] } });
    await local.admin.openPull(path, { branch: 'feature/a' });
    await local.admin.openPull(path, {
      branch: 'feature/a',
      from: fork,
      labels: ['preview', 'Größe M'],
      isDraft: true,
    });
    for (let number = 3; number <= pullCount; number += 1) {
      await local.admin.openPull(path, { branch: 'feature/a' });
    }
    await local.admin.closePull(path, 3);
    source = sourceAt(local.url);
  }, 60_000);

  afterAll(() => local.stop());

  test('finds the repository, and reports no permission of the token as missing', async () => {
    const { statuses, hooks } = await host.check();
    expect([statuses, hooks]).not.toContain(false);
  });

  test('reports a refused token, and a missing repository', async () => {
    const wrong = await clientOf(local.url, kind, spec(local.url), 'wrong');
    await expect(wrong.check()).rejects.toMatchObject({ reason: 'AuthenticationFailed' });
    const field = { ownerhost: 'repo', groupedhost: 'project', cloudorg: 'repoName', workspacehost: 'repository' }[
      kind
    ];
    const missing = await clientOf(local.url, kind, { ...spec(local.url), [field]: 'nothing' }, token);
    await expect(missing.check()).rejects.toMatchObject({ reason: 'NotFound' });
  });

  test('lists open pull requests over several pages, and which of them come from forks', async () => {
    const found = (await host.openPullRequests()) ?? [];
    const numbers = found.map(({ number }) => number).sort((one, other) => one - other);
    expect(numbers).toEqual([1, 2, ...Array.from({ length: pullCount - 3 }, (_, index) => index + 4)]);
    expect(found.filter(({ isFork }) => isFork !== false)).toMatchObject([{ number: 2, isFork: true }]);
  });

  test('lists what rules decide by, unless the host has none', async () => {
    const factsOf = async (wanted: number) =>
      (await host.openPullRequests())?.find(({ number }) => number === wanted)?.facts;
    const branches = { sourceBranch: 'feature/a', targetBranch: 'main' };
    const none = kind === 'workspacehost' ? undefined : [];
    const labels = none && ['preview', 'Größe M'];
    expect(await factsOf(1)).toMatchObject({ ...branches, labels: none, isDraft: false });
    expect(await factsOf(2)).toMatchObject({ ...branches, labels, isDraft: true });
    await local.admin.change(path, 2, { labels: [], isDraft: false, target: 'feature/a' });
    expect(await factsOf(2)).toMatchObject({ ...branches, targetBranch: 'feature/a', labels: none, isDraft: false });
    await local.admin.change(path, 2, { target: 'main' });
  });

  test('reports whether the authors are members, if the host does', async () => {
    const found = (await host.openPullRequests({ authors: true })) ?? [];
    const authors = [1, 2].map((wanted) => found.find(({ number }) => number === wanted)?.facts.author);
    const isReported = kind === 'ownerhost' || kind === 'groupedhost';
    expect(authors.map((author) => author?.isMember)).toEqual(isReported ? [true, false] : [undefined, undefined]);
  });

  test.each([1, 2])('finds pull request %i with git at its reported location', async (number) => {
    const { location, commit: given } = await host.pullRequest(number);
    const ref = { name: String(number), type: 'pull request' as const };
    expect(await source.resolve(location, ref)).toBe(commit);
    expect([commit, undefined]).toContain(given);
  });

  test('treats a pull request of a fork as one, whatever its branch and however repositories are renamed', async () => {
    await local.admin.retarget(path, 2, 'feature/a');
    expect((await host.pullRequest(2)).isFork).toBe(true);
    const other = `${fork}-2`;
    await local.admin.move(fork, other);
    expect((await host.pullRequest(2)).isFork).toBe(true);
    await local.admin.move(other, fork);
  });

  test("does not follow a moved repository, whose name's new holder has another ID", async () => {
    const id = await host.repositoryId();
    await local.admin.move(path, `${path}-2`);
    const reasons = { ownerhost: 'Refused', groupedhost: 'Refused', cloudorg: 'NotFound', workspacehost: 'NotFound' };
    await expect(host.repositoryId()).rejects.toMatchObject({ reason: reasons[kind] });
    await expect(source.listRefs(host.access)).rejects.toMatchObject({ name: 'SourceRefusedError' });
    await local.admin.move(fork, path);
    expect(await host.repositoryId()).not.toBe(id);
    expect(await host.openPullRequests()).toEqual([]);
    await local.admin.move(path, fork);
    await local.admin.move(`${path}-2`, path);
    expect(await host.repositoryId()).toBe(id);
  });

  test('updates a status that is written again', async () => {
    const status = { context: 'coppice/shop-feature-a', description: 'it builds', targetUrl: 'https://x.example/1' };
    for (const state of ['pending', 'pending', 'success', 'pending', 'failure'] as const) {
      expect(await host.setStatus(commit, { ...status, state })).toBe(true);
    }
    const { statuses } = await local.admin.record(path);
    expect(statuses.at(-1)).toMatchObject({ commit, context: status.context, targetUrl: status.targetUrl });
  });

  test('writes one comment, found by its ID and by its marker', async () => {
    const location = { pullRequest: 1, marker: '<!-- coppice shop -->' };
    const id = await host.comment(location, `first\n${location.marker}`);
    expect(await host.comment({ ...location, id }, `second\n${location.marker}`)).toBe(id);
    expect(await host.comment(location, `third\n${location.marker}`)).toBe(id);
    const { comments } = await local.admin.record(path);
    expect(comments.map(({ body }) => body)).toEqual([`third\n${location.marker}`]);
  });

  test('reads a comment, and whether its author can write, where the host reports that', async () => {
    const read = async (author: string) => {
      const id = await local.admin.comment(path, 1, author, 'looks good');
      return host.writtenComment(1, `${id}`);
    };
    const found = await Promise.all(['ann', 'carl', 'mallory'].map(read));
    const reports = kind === 'ownerhost' || kind === 'groupedhost';
    expect(found).toEqual(
      [true, false, false].map((canWrite, index) =>
        reports ? { body: 'looks good', author: ['ann', 'carl', 'mallory'][index], canWrite } : undefined,
      ),
    );
  });

  test('creates one webhook once, and removes it', async () => {
    const hook = { url: 'http://127.0.0.1:9/hook', secret: 's-1' };
    const id = await host.ensureWebhook(hook);
    expect(await host.ensureWebhook({ ...hook, secret: 's-2' })).toBe(id);
    const { hooks } = await local.admin.record(path);
    expect(new Set(hooks.map(({ url }) => url))).toEqual(new Set([hook.url]));
    expect(new Set(hooks.map(({ events }) => events.join())).size).toBe(hooks.length);
    await host.removeWebhook(id ?? '');
    expect((await local.admin.record(path)).hooks).toEqual([]);
  });

  test('creates no webhook and no status with a read-only token', async () => {
    const other = await clientOf(local.url, kind, spec(local.url), reader);
    expect(await other.ensureWebhook({ url: 'http://127.0.0.1:9/hook', secret: 's' })).toBeUndefined();
    const status = { context: 'coppice/x', state: 'pending', description: '', targetUrl: 'https://x.example' } as const;
    await expect(other.setStatus(commit, status)).rejects.toMatchObject({ name: 'SourceRefusedError' });
  });

  test.each(failures)(
    'reports %s as %s',
    async (asked, _, fault, error) => {
      // Only a hang runs into the timeout: a busy machine may respond more slowly than that.
      const timeoutMs = fault.answer === 'hang' ? 500 : 10_000;
      const asking = await clientOf(local.url, kind, spec(local.url), token, { timeoutMs });
      const { match, ask } = asks[asked];
      await local.admin.setFaults(path, [{ match, ...fault }]);
      try {
        await expect(ask(asking, sourceAt(local.url, timeoutMs))).rejects.toMatchObject(error);
      } finally {
        await local.admin.setFaults(path, []);
      }
    },
    20_000,
  );
});
