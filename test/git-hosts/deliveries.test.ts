import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { pushRepository } from '../sample/push-repository.ts';
import { KINDS, type KindName } from './kind.ts';
import { typeErrors, type TypedAnswer } from './published-types.ts';
import { startHost, type RunningHost } from './running-host.ts';
import { typedDelivery } from './typed-deliveries.ts';

/** Compares what the emulators deliver to webhooks with the types that the official packages publish. */

const locations: Record<KindName, { path: string; gitPath: string; username: string }> = {
  ownerhost: { path: 'acme/shop', gitPath: 'acme/shop.git', username: 'x-access-token' },
  groupedhost: { path: 'acme/web/shop', gitPath: 'acme/web/shop.git', username: 'oauth2' },
  cloudorg: { path: 'acme/The Web/shop', gitPath: 'acme/The%20Web/_git/shop', username: 'pat' },
  workspacehost: { path: 'acme/shop', gitPath: 'acme/shop.git', username: 'x-token-auth' },
};

const typed: TypedAnswer[] = [];
let receiver: Server;
let bodies: unknown[] = [];

beforeAll(async () => {
  receiver = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      bodies.push(JSON.parse(text));
      response.writeHead(202).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
});

afterAll(() => void receiver.close());

describe.each(KINDS)('%s', (kind) => {
  let host: RunningHost;
  beforeEach(async () => {
    bodies = [];
    host = await startHost(kind);
  });
  afterEach(() => host.stop());

  test('reports a push, a tag, and a pull request that is opened, changed and closed', async () => {
    const { path, gitPath, username } = locations[kind];
    const token = 'a-token-of-the-test';
    await host.admin.put(path, { tokens: { [token]: ['push'] } });
    const repository = { url: `${host.url}/${gitPath}`, credentials: { username, password: token } };
    const { port } = receiver.address() as AddressInfo;
    await host.admin.addHook(path, `http://127.0.0.1:${port}/hook`, 's-1');

    const reported = async (count: number) => {
      for (let tries = 0; bodies.length < count && tries < 200; tries++)
        await new Promise((done) => setTimeout(done, 20));
      expect(bodies).toHaveLength(count);
    };
    await pushRepository({ ...repository, branch: 'main', files: { 'a.txt': '1' } });
    await reported(1);
    await pushRepository({ ...repository, branch: 'change', files: { 'a.txt': '2' } });
    await reported(2);
    await pushRepository({ ...repository, branch: 'v1', ref: 'refs/tags/v1', files: { 'a.txt': '2' } });
    await reported(3);
    const number = await host.admin.openPull(path, { branch: 'change' });
    await reported(4);
    await pushRepository({ ...repository, branch: 'change', files: { 'a.txt': '3' } });
    await reported(6);
    await host.admin.change(path, number, { labels: ['preview'], isDraft: true });
    const changes = { ownerhost: 2, groupedhost: 2, cloudorg: 0, workspacehost: 1 }[kind];
    await reported(6 + changes);
    await host.admin.comment(path, number, 'ann', 'looks good');
    const comments = { ownerhost: 1, groupedhost: 1, cloudorg: 0, workspacehost: 0 }[kind];
    await host.admin.closePull(path, number);
    await reported(7 + changes + comments);
    typed.push(...bodies.flatMap((body) => typedDelivery(kind, body)));
  }, 60_000);
});

test('has only deliveries of the type that the official package publishes', () => {
  expect(typed.length).toBeGreaterThanOrEqual(24);
  expect(typeErrors(typed)).toEqual([]);
}, 120_000);

test('detects fields that the type does not have', () => {
  const wrong = typedDelivery('ownerhost', { action: 'opened', number: 'one', nothing: 1 });
  expect(typeErrors(wrong).join()).toContain('ownerhost opened: ');
}, 120_000);
