import type { Server } from 'node:http';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import request from 'supertest';
import { WebSocket } from 'ws';
import { runtimeLogKeys } from '../../build-logs/keys.ts';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { Unavailable } from '../shared/errors.ts';
import { startServer, stopServer } from '../http/server.ts';
import { TestApi } from '../testing/test-api.ts';
import { TEST_ORIGIN } from '../testing/test-options.ts';

const path = '/api/environment/acme.shop-main/services/web/logs';
const at = { namespace: 'group-acme', name: 'shop-main' };

let api: TestApi;
let environment: Environment;
let token: string;
let server: Server;
let port: number;

beforeEach(async () => {
  api = new TestApi({}, undefined, { silenceMs: 50 });
  ({ token } = await api.login('alice@example.com'));
  api.addGroup('acme', ['alice@example.com']);
  const services = [{ name: 'web', ready: true }];
  environment = api.addEnvironment('acme', 'shop-main', 'shop', { state: 'built', services });
  ({ server, port } = await startServer(api.app, api.webSockets, 0));
});
afterEach(() => stopServer(server, api.webSockets, 100));

const line = (seq: number) => ({
  seq,
  time: '2026-01-01T00:00:00Z',
  service: 'web',
  stage: 'run',
  pod: 'web-1',
  line: `line ${seq}`,
});

function write(...messages: object[]): void {
  api.logReader.writeTo(runtimeLogKeys(environment.metadata.uid ?? '', 'web'), ...messages);
}

function get(query = '', from = path) {
  return request(server).get(`${from}${query}`).set('x-service-token', token);
}

test('returns the last lines as lines of JSON without a WebSocket', async () => {
  write(line(5), line(6));
  const answer = await get('?follow=false&tail=2').buffer(true).expect(200);
  expect(answer.type).toBe('application/x-ndjson');
  expect(answer.text).toBe([line(5), line(6)].map((message) => `${JSON.stringify(message)}\n`).join(''));
  expect(api.runtimeLogs.followRequests).toEqual([
    { environment: 'group-acme/shop-main', uid: environment.metadata.uid, service: 'web' },
  ]);
});

test('accepts the ID that the environment reports for a service', async () => {
  const view = await get('', '/api/environment/acme.shop-main').expect(200);
  const [{ id } = { id: '' }] = (view.body as { services: { id: string }[] }).services;
  expect(id).toBe('acme.shop-main.web');
  write(line(5));
  await get('', path.replace('web', id)).expect(200);
  expect(api.runtimeLogs.followRequests).toMatchObject([{ service: 'web' }]);
});

test.each([
  ['an unknown service', '', path.replace('web', 'db'), 404],
  ['a service of another environment', '', path.replace('web', 'acme.other.web'), 404],
  ['an unknown environment', '', path.replace('shop-main', 'other'), 404],
  ['another way to follow', '?follow=true', path, 426],
  ['no number', '?tail=many', path, 422],
  ['too many', '?tail=1001', path, 422],
])('refuses %s', async (_, query, where, status) => {
  const answer = await get(query, where).expect(status);
  expect(answer.body).toMatchObject({ error: expect.any(String) as unknown });
});

test('ignores an upgrade to HTTP/2, which clients offer by themselves', async () => {
  write(line(5));
  const offer = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAAP__' };
  const answer = await get('?tail=1').set(offer).buffer(true).expect(200);
  expect(answer.text).toBe(`${JSON.stringify(line(5))}\n`);
});

test('hides the log from other users', async () => {
  const mallory = await api.login('mallory@example.com');
  await request(server).get(path).set('x-service-token', mallory.token).expect(404);
  await request(server).get(path).expect(400);
});

test('answers 503 if no operator responds', async () => {
  api.runtimeLogs.failure = new Unavailable('no operator follows the log now. Try again');
  await get().expect(503);
});

test('follows over a WebSocket until the environment is deleted', async () => {
  write(line(5), line(6));
  const client = new WebSocket(`ws://127.0.0.1:${port}${path}?from=5`, {
    headers: { cookie: `token=${token}`, origin: TEST_ORIGIN },
  });
  const frames: string[] = [];
  client.on('message', (data: Buffer) => frames.push(data.toString()));
  const closed = new Promise((resolve) => client.on('close', (code) => resolve(code)));
  await new Promise((resolve) => client.once('message', resolve));
  write(line(7));
  await new Promise((resolve) => client.once('message', resolve));
  api.cluster.remove(ENVIRONMENT, at);
  expect(await closed).toBe(4404);
  expect(frames).toEqual([JSON.stringify(line(6)), JSON.stringify(line(7))]);
});
