import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from '@jest/globals';
import request from 'supertest';
import { z } from 'zod';
import { startServer, stopServer } from '../http/server.ts';
import { TestApi } from '../testing/test-api.ts';
import { TEST_BUDGETS } from '../testing/test-options.ts';
import { newUserSchema } from '../users/user-parameters.ts';

async function served(): Promise<{ paths: Record<string, Record<string, { operationId: string }>> }> {
  const answer = await request(new TestApi().app).get('/api/openapi.json').expect(200);
  return answer.body as Awaited<ReturnType<typeof served>>;
}

test('serves a valid OpenAPI 3.1 document without authentication', async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(await served());
  expect(errors ?? []).toEqual([]);
  expect(valid).toBe(true);
  expect(validator.version).toBe('3.1');
});

test('gives every operation an ID of its own', async () => {
  const { paths } = await served();
  const ids = Object.values(paths).flatMap((path) => Object.values(path).map(({ operationId }) => operationId));
  expect(new Set(ids).size).toBe(ids.length);
});

interface Operation {
  requestBody: { required: boolean; content: Record<string, { schema: z.core.JSONSchema.JSONSchema }> };
}

async function bodyOf(path: string, method: string) {
  const answer = await request(new TestApi().app).get('/api/openapi.json').expect(200);
  const { paths } = answer.body as { paths: Record<string, Record<string, Operation>> };
  const { requestBody } = paths[path]?.[method] ?? {};
  // zod reads each member of an anyOf separately from the properties beside it.
  const { anyOf = [], ...rest } = requestBody?.content['application/json']?.schema ?? {};
  const parts = anyOf.length === 0 ? [rest] : anyOf.map((one) => ({ ...rest, ...(one as object) }));
  const schemas = parts.map((schema) => z.fromJSONSchema(schema));
  const accepts = (body: unknown) => schemas.some((schema) => schema.safeParse(body).success);
  return { required: requestBody?.required ?? false, accepts };
}

test.each<[string, string, unknown, unknown]>([
  ['patch', '/api/group/{groupID}/variables', { name: 'A' }, { name: 'A', value: '1' }],
  ['patch', '/api/repository/{repoID}/variables', { name: 'A' }, { name: 'A', visibility: 'always' }],
  ['delete', '/api/user/tokens', {}, { name: 'ci' }],
])('refuses in the document what the API refuses: %s %s %j', async (method, path, refused, accepted) => {
  const { required, accepts } = await bodyOf(path, method);
  expect([required, accepts(refused), accepts(accepted)]).toEqual([true, false, true]);
});

test('describes each event of the stream of changes by its fields', async () => {
  const answer = await request(new TestApi().app).get('/api/openapi.json').expect(200);
  const { paths } = answer.body as {
    paths: Record<string, { get: { responses: Record<string, { content: Record<string, { schema: object }> }> } }>;
  };
  const { schema } = paths['/api/events']?.get.responses['200']?.content['text/event-stream'] ?? {};
  const reset = { contentMediaType: 'application/json', contentSchema: { required: ['reason'] } };
  expect(schema).toMatchObject({
    anyOf: [
      { properties: { event: { const: 'change' }, data: { contentSchema: { $ref: '#/components/schemas/Change' } } } },
      { required: ['event', 'data'], properties: { event: { const: 'reset' }, data: { type: 'string', ...reset } } },
      { properties: { event: { const: 'ready' } } },
      { properties: { event: { const: 'close' } } },
    ],
  });
});

test('has no format that refuses an address that the API accepts', async () => {
  const { email } = newUserSchema.parse({ email: '.a..b@0' });
  expect(email).toBe('.a..b@0');
  expect(JSON.stringify(await served())).not.toContain('"format":"email"');
});

test('has no pattern with Unicode properties, which generators of clients do not know', async () => {
  const text = JSON.stringify(await served());
  expect(text).toContain('"pattern"');
  expect(text).not.toMatch(/\\\\[pP]\{/);
});

test.each([
  ['/api/docs', 'text/html'],
  ['/api/docs/start.js', 'text/javascript'],
  ['/api/docs/swagger-ui.css', 'text/css'],
  ['/api/docs/swagger-ui-bundle.js', 'text/javascript'],
])('serves %s without authentication', async (path, type) => {
  const answer = await request(new TestApi().app).get(path).expect(200);
  expect(answer.type).toBe(type);
});

const script = '/api/docs/swagger-ui-bundle.js';

test('sends the script compressed to clients that accept gzip', async () => {
  const { app } = new TestApi();
  const sizeOf = async (encoding: string) => {
    const answer = await request(app).get(script).set('accept-encoding', encoding).expect(200);
    expect([answer.headers['vary'], answer.headers['content-encoding']]).toEqual([
      'Accept-Encoding',
      encoding === 'gzip' ? 'gzip' : undefined,
    ]);
    expect(answer.text).toContain('SwaggerUIBundle');
    return Number(answer.headers['content-length']);
  };
  expect(await sizeOf('gzip')).toBeLessThan((await sizeOf('identity')) / 3);
});

test('refuses the script to an address that does not read it, and closes the connection of a reader', async () => {
  const mebibyte = 1024 * 1024;
  const { app, webSockets } = new TestApi({ budgets: { ...TEST_BUDGETS, requestMemoryBytes: 16 * mebibyte } });
  const { server } = await startServer(app, webSockets, 0);
  try {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
    await once(socket, 'connect');
    socket.write(`GET ${script} HTTP/1.1\r\nhost: x\r\n\r\n`);
    await once(socket, 'readable');
    const refused = await request(server).get(script);
    expect([refused.status, refused.headers['retry-after'], refused.body]).toEqual([
      429,
      '2',
      { error: expect.stringContaining('1 MiB of the API') },
    ]);
    socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await request(server).get(script).expect(200)).headers['connection']).toBe('close');
    await request(server).head(script).expect(200);
  } finally {
    await stopServer(server, webSockets, 100);
  }
});
