import type { IncomingMessage } from 'node:http';
import { ApiError } from './api.ts';
import type { Reply } from './api.ts';
import type { Emulator, NewComment, NewPullRequest, PullRequestChange } from './emulator.ts';
import type { Fault } from './faults.ts';
import { refsOf } from './git.ts';
import type { NewRepository } from './repositories.ts';

/** Matches /admin/repositories/PATH[/WHAT[/NUMBER]], where PATH is percent-encoded as one segment. */
const pattern = /^\/admin\/repositories\/(?<path>[^/]+)(?:\/(?<what>[^/]+))?(?:\/(?<number>\d+))?$/;

/** Handles the tests' requests to the host itself, without authentication. */
export async function administer(emulator: Emulator, request: IncomingMessage, url: URL): Promise<Reply> {
  const { path: encoded, what = '', number } = pattern.exec(url.pathname)?.groups ?? {};
  if (encoded === undefined) return { status: 404, text: 'no such call' };
  const path = decodeURIComponent(encoded);
  let body = '';
  for await (const chunk of request) body += String(chunk);
  const json: unknown = body === '' ? {} : JSON.parse(body);
  try {
    return await act(emulator, `${request.method ?? ''} ${what}`, {
      path,
      number: Number(number),
      json,
      base: url.origin,
    });
  } catch (error) {
    if (error instanceof ApiError) return { status: error.status, text: error.message };
    throw error;
  }
}

interface Admin {
  path: string;
  number: number;
  json: unknown;
  base: string;
}

async function act(emulator: Emulator, what: string, { path, number, json, base }: Admin): Promise<Reply> {
  switch (what) {
    case 'PUT ':
      await emulator.put({ ...(json as Omit<NewRepository, 'path'>), path });
      return { status: 200, json: {} };
    case 'DELETE ':
      await emulator.remove(path);
      return { status: 200, json: {} };
    case 'GET ':
      return { status: 200, json: await record(emulator, path) };
    case 'PUT faults':
      emulator.faults.set(path, json as Fault[]);
      return { status: 200, json: {} };
    case 'POST pull-requests':
      return { status: 201, json: { number: (await emulator.openPull(path, json as NewPullRequest, base)).number } };
    case 'POST moves':
      emulator.move(path, (json as { to: string }).to);
      return { status: 200, json: {} };
    case 'PATCH pull-requests':
      await emulator.change(path, number, json as PullRequestChange, base);
      return { status: 200, json: {} };
    case 'POST comments':
      return { status: 201, json: { id: emulator.comment(path, number, json as NewComment, base) } };
    case 'PATCH comments':
      emulator.changeComment(path, number, (json as NewComment).body);
      return { status: 200, json: {} };
    case 'DELETE pull-requests':
      await emulator.closePull(path, number, base);
      return { status: 200, json: {} };
    case 'POST hooks': {
      const { url, secret } = json as { url: string; secret: string };
      emulator.addHooks(path, url, secret);
      return { status: 201, json: {} };
    }
    default:
      return { status: 404, text: 'no such call' };
  }
}

/** Returns what was received and delivered so far, without tokens and secrets. */
async function record(emulator: Emulator, path: string): Promise<object> {
  const repository = emulator.get(path);
  const { statuses, comments, hooks, deliveries, received, pullRequests } = repository;
  return {
    refs: Object.fromEntries(await refsOf(emulator.folder(repository))) as object,
    statuses,
    comments,
    deliveries,
    received,
    hooks: hooks.map(({ id, uuid, url, events }) => ({ id, uuid, url, events })),
    pullRequests: pullRequests.map(({ number: id, state, branch, commit, from }) => ({
      number: id,
      state,
      branch,
      commit,
      from: from.path,
    })),
  };
}
