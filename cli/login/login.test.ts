import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Server } from 'node:http';
import { startServer, stopServer } from '../../api/http/server.ts';
import { TestApi } from '../../api/testing/test-api.ts';
import { Client } from '../api/client.ts';
import type { UserView } from '../api/types.ts';
import { processIo, type Io } from '../io.ts';
import { browserLogin } from './browser.ts';
import { deviceLogin } from './device.ts';

let api: TestApi;
let server: Server;
let url: string;
let panel: Client;
let shown: string;
let io: Io;

beforeEach(async () => {
  api = new TestApi();
  api.now = Date.now();
  const { token } = await api.login('alice@example.com');
  const started = await startServer(api.app, api.webSockets, 0);
  ({ server } = started);
  url = `http://localhost:${started.port}`;
  panel = new Client({ url, token });
  shown = '';
  io = { ...processIo(), err: { write: (text) => (shown += text) !== '', once: () => undefined } };
});
afterEach(() => stopServer(server, api.webSockets, 100));

const whoIs = async (token: string) => (await new Client({ url, token }).get<UserView>('/api/user/info')).email;

test('signs in by the browser, and ignores redirects that others send', async () => {
  const approve = async (address: string) => {
    const { port, challenge, state } = Object.fromEntries(new URL(address).searchParams);
    const injected = await fetch(`http://127.0.0.1:${port}/callback?code=injected&state=${'x'.repeat(32)}`);
    expect(injected.status).toBe(404);
    const body = { port, challenge, state };
    const { redirect } = await panel.send<{ redirect: string }>('POST', '/api/user/authorizations', { body });
    expect((await fetch(redirect)).status).toBe(200);
  };
  let approved: Promise<void> | undefined;
  const token = await browserLogin(io, url, (address) => {
    approved = approve(address);
  });
  await approved;
  expect(await whoIs(token)).toBe('alice@example.com');
});

test('signs in a device by the code that it shows', async () => {
  const signedIn = deviceLogin(io, url);
  while (!shown.includes('enter the code')) await new Promise((resolve) => setTimeout(resolve, 10));
  const userCode = /the code (\S+)/.exec(shown)?.[1];
  await panel.send('POST', '/api/user/device/decision', { body: { userCode, approve: true } });
  expect(await whoIs(await signedIn)).toBe('alice@example.com');
  expect(shown).toContain('/sign-in/device');
}, 30_000);
