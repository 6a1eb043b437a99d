import type { RequestListener } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { HostBusyError, SourceRefusedError, SourceUnreachableError } from '../errors.ts';
import { CloudorgHost } from './cloudorg.ts';
import { GroupedhostHost } from './groupedhost.ts';
import type { GitHost } from './host.ts';
import type { HostHttp } from './host-http.ts';
import { OwnerhostHost } from './ownerhost.ts';
import { localHttp, sendJson, startLocalHost, type LocalHost } from './testing/local-host.ts';
import { WorkspacehostHost } from './workspacehost.ts';

const token = 'tok-5ecret';
const source = { check: () => Promise.resolve() };
const commit = 'a'.repeat(40);
const status = { context: 'coppice/shop', state: 'success', description: '', targetUrl: 'https://x.example' } as const;

const hosts: Record<string, (http: HostHttp, url: string) => GitHost> = {
  ownerhost: (http, url) =>
    new OwnerhostHost({ http, source, webUrl: url, apiUrl: `${url}/api/v3`, owner: 'acme', repo: 'shop', token }),
  groupedhost: (http, url) =>
    new GroupedhostHost({ http, source, webUrl: url, group: 'acme/web', project: 'shop', token }),
  cloudorg: (http, url) =>
    new CloudorgHost({ http, source, orgUrl: `${url}/acme`, project: 'My Web', repoName: 'shop', token }),
  workspacehost: (http, url) =>
    new WorkspacehostHost({ http, source, webUrl: url, apiUrl: url, workspace: 'acme', repository: 'shop', token }),
};

/** Returns a page with the pull requests of these numbers, and the header or field that names the next page. */
type PageOf = (numbers: number[], next: string | undefined) => { json: unknown; headers: Record<string, string> };
const linked = (next: string | undefined): Record<string, string> =>
  next === undefined ? {} : { link: `<${next}>; rel="next"` };
const pages: Record<string, PageOf> = {
  ownerhost: (numbers, next) => ({
    json: numbers.map((number) => ({ number, head: { sha: commit, repo: { id: 1 } }, base: { repo: { id: 1 } } })),
    headers: linked(next),
  }),
  groupedhost: (numbers, next) => ({
    json: numbers.map((iid) => ({ iid, sha: commit, source_project_id: 1, target_project_id: 1 })),
    headers: linked(next),
  }),
  cloudorg: (numbers) => ({
    json: { value: numbers.map((pullRequestId) => ({ pullRequestId, sourceRefName: 'refs/heads/x' })) },
    headers: {},
  }),
  workspacehost: (numbers, next) => ({
    json: {
      values: numbers.map((id) => ({
        id,
        source: { branch: { name: 'x' }, commit: { hash: 'abcdef012345' }, repository: { full_name: 'acme/shop' } },
        destination: { repository: { full_name: 'acme/shop' } },
      })),
      next,
    },
    headers: {},
  }),
};

let local: LocalHost;
let elsewhere: LocalHost;

beforeEach(async () => {
  local = await startLocalHost();
  elsewhere = await startLocalHost();
});

afterEach(async () => {
  await Promise.all([local.close(), elsewhere.close()]);
});

async function failureOf(call: Promise<unknown>): Promise<Error> {
  return call.then(
    () => {
      throw new Error('it did not fail');
    },
    (error: unknown) => error as Error,
  );
}

const html = '<html>Sign in, tok-5ecret</html>';
const answering =
  (code: number, headers: Record<string, string> = {}, body = html): RequestListener =>
  (_, response) =>
    response.writeHead(code, headers).end(body);
const half: RequestListener = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('[{"number": 1,', () => response.destroy());
};
const json = { 'content-type': 'application/json' };

const faults: [string, RequestListener, object][] = [
  ['401', answering(401), { name: 'SourceRefusedError', reason: 'AuthenticationFailed' }],
  ['403', answering(403), { name: 'SourceRefusedError', reason: 'Forbidden' }],
  [
    '404',
    answering(404, json, '{"message":"Not Found, tok-5ecret"}'),
    { name: 'SourceRefusedError', reason: 'NotFound' },
  ],
  ['422', answering(422), { name: 'SourceRefusedError', reason: 'Refused' }],
  ['429 until in 7 s', answering(429, { 'retry-after': '7' }), { name: 'HostBusyError', retryAfterMs: 7000 }],
  ['429 without headers', answering(429), { name: 'HostBusyError', retryAfterMs: 60_000 }],
  ['500', answering(500), { name: 'SourceUnreachableError' }],
  ['a hang', () => undefined, { name: 'HostTimeoutError', message: expect.stringContaining('in time') }],
  ['half an answer', half, { name: 'SourceUnreachableError' }],
  ['half of the JSON', answering(200, json, '[{"number": 1'), { name: 'SourceUnreachableError' }],
  ['JSON of another shape', answering(200, json, '[{"number": "x"}]'), { name: 'SourceUnreachableError' }],
  ['HTML', answering(200, { 'content-type': 'text/html' }), { name: 'SourceUnreachableError' }],
  ['304 unasked', answering(304), { name: 'SourceUnreachableError' }],
];

describe.each(Object.entries(hosts))('%s', (name, create) => {
  const page = pages[name]!;
  const host = (timeoutMs?: number) => create(localHttp([local, elsewhere], timeoutMs), local.url);

  test.each(faults)('%s', async (what, answer, expected) => {
    local.answer(answer);
    // Only a hang runs into the timeout: a busy machine may respond more slowly than that.
    const asked = () => host(what === 'a hang' ? 150 : undefined);
    const calls = [
      () => asked().check(),
      () => asked().openPullRequests(),
      () => asked().pullRequest(1),
      () => asked().setStatus(commit, status),
    ];
    for (const call of calls) {
      const error = await failureOf(call());
      expect(error).toMatchObject(expected);
      expect(error.message).not.toContain('tok-5ecret');
    }
  });

  test('refuses a login page that an invalid token receives', async () => {
    for (const code of [203, 302]) {
      local.answer(answering(code, { location: `${elsewhere.url}/_signin`, 'content-type': 'text/html' }));
      const error = await failureOf(host().openPullRequests());
      if (name === 'cloudorg') expect(error).toMatchObject({ reason: 'AuthenticationFailed' });
      else expect(error).toBeInstanceOf(code === 302 ? SourceRefusedError : SourceUnreachableError);
    }
    expect(elsewhere.requests).toEqual([]);
  });

  test('does not treat 404 of a proxy without the host as a missing repository', async () => {
    for (const headers of [{ 'content-type': 'text/plain' }, undefined]) {
      local.answer(answering(404, headers));
      const error = await failureOf(host().check());
      // Azure DevOps itself responds like this for an unknown organization.
      const isOwn = name === 'cloudorg';
      expect(error).toMatchObject(
        isOwn ? { reason: 'NotFound' } : { message: expect.stringContaining('Check that it is running') },
      );
      expect(error).toBeInstanceOf(isOwn ? SourceRefusedError : SourceUnreachableError);
      expect(error.message).not.toContain('tok-5ecret');
    }
  });

  test('does not follow a redirect to another origin', async () => {
    local.answer(answering(301, { location: `${elsewhere.url}/x` }));
    expect(await failureOf(host().check())).toMatchObject({ reason: 'Refused' });
    expect(await failureOf(host().setStatus(commit, status))).toMatchObject({ reason: 'Refused' });
    expect(elsewhere.requests).toEqual([]);
  });

  test('recognizes a repository by its ID, whatever its name', async () => {
    const ids: Record<string, object> = {
      ownerhost: { id: 42 },
      groupedhost: { id: 42 },
      cloudorg: { id: '42', project: { id: 'p' } },
      workspacehost: { uuid: '42' },
    };
    local.answer((_, response) => sendJson(response, ids[name]));
    expect(await host().repositoryId()).toBe('42');
  });

  test('reads all pages', async () => {
    const first = Array.from({ length: 100 }, (_, index) => index + 1);
    local.answer((request, response) => {
      const isSecond = /page=2|skip=100/.test(request.url ?? '');
      const { json: value, headers } = isSecond
        ? page([101, 102], undefined)
        : page(first, `${local.url}${request.url ?? ''}&page=2`);
      sendJson(response, value, headers);
    });
    const found = await host().openPullRequests();
    expect(found?.map(({ number }) => number)).toEqual([...first, 101, 102]);
  });

  test('fails a list whose second page fails', async () => {
    const first = Array.from({ length: 100 }, (_, index) => index + 1);
    local.answer((request, response) => {
      if (/page=2|skip=100/.test(request.url ?? '')) return response.writeHead(502).end();
      const { json: value, headers } = page(first, `${local.url}${request.url ?? ''}&page=2`);
      sendJson(response, value, headers);
    });
    expect(await failureOf(host().openPullRequests())).toBeInstanceOf(SourceUnreachableError);
  });

  test('finds what moved to a page that was read already', async () => {
    const first = Array.from({ length: 100 }, (_, index) => index + 1);
    let isClosed = false;
    local.answer((request, response) => {
      const isSecond = /page=2|skip=100/.test(request.url ?? '');
      // When the first page has been read, 1 is closed, so that 101 moves to that page.
      const { json: value, headers } = isSecond
        ? page(isClosed ? [102] : [101, 102], undefined)
        : page(isClosed ? [...first.slice(1), 101] : first, `${local.url}${request.url ?? ''}&page=2`);
      isClosed = true;
      sendJson(response, value, headers);
    });
    expect((await host().openPullRequests())?.map(({ number }) => number)).toContain(101);
  });

  test('refuses a page that leads to itself, or to the same one again', async () => {
    const many = Array.from({ length: 100 }, (_, index) => index + 1);
    for (const next of [(url: string) => url, (url: string) => `${url}&x`]) {
      local.requests.length = 0;
      local.answer((request, response) => {
        const { json: value, headers } = page(many, next(`${local.url}${request.url ?? ''}`));
        sendJson(response, value, headers);
      });
      expect(await failureOf(host().openPullRequests())).toBeInstanceOf(SourceUnreachableError);
      expect(local.requests.length).toBeLessThan(3);
    }
  });

  // Azure DevOps does not name a next page.
  if (name !== 'cloudorg')
    test('does not request a next page at another origin', async () => {
      local.answer((_, response) => {
        const { json: value, headers } = page([1], `${elsewhere.url}/x`);
        sendJson(response, value, headers);
      });
      expect(await failureOf(host().openPullRequests())).toBeInstanceOf(SourceUnreachableError);
      expect(elsewhere.requests).toEqual([]);
    });

  test('does not connect to a port that is not permitted', async () => {
    const closed = create(localHttp([elsewhere]), local.url);
    expect(await failureOf(closed.check())).toMatchObject({ reason: 'AddressRefused' });
    expect(local.requests).toEqual([]);
  });

  test('reports a host that does not exist', async () => {
    const gone = create(localHttp([local]), local.url);
    await local.close();
    const error = await failureOf(gone.openPullRequests());
    expect(error).toBeInstanceOf(SourceUnreachableError);
    expect(error).not.toBeInstanceOf(HostBusyError);
    expect(error.message).toContain('ECONNREFUSED');
  });
});
