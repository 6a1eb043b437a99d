import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from '@jest/globals';
import request from 'supertest';
import { z } from 'zod';
import { TestApi } from '../testing/test-api.ts';

async function served(): Promise<{ paths: Record<string, Record<string, { operationId: string }>> }> {
  const answer = await request(new TestApi().app).get('/api/openapi.json').expect(200);
  return answer.body as Awaited<ReturnType<typeof served>>;
}

test('the document is valid OpenAPI 3.1, and open', async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(await served());
  expect(errors ?? []).toEqual([]);
  expect(valid).toBe(true);
  expect(validator.version).toBe('3.1');
});

test('every operation has an id of its own', async () => {
  const { paths } = await served();
  const ids = Object.values(paths).flatMap((path) => Object.values(path).map(({ operationId }) => operationId));
  expect(new Set(ids).size).toBe(ids.length);
});

interface Operation {
  requestBody: { required: boolean; content: Record<string, { schema: z.core.JSONSchema.JSONSchema }> };
}

async function bodyOf(path: string, method: string): Promise<{ required: boolean; takes: (body: unknown) => boolean }> {
  const { paths } = (await served()) as unknown as { paths: Record<string, Record<string, Operation>> };
  const { requestBody } = paths[path]?.[method] ?? {};
  // Strictly: of a schema with anyOf each part is read apart from the others.
  const { anyOf = [], ...rest } = requestBody?.content['application/json']?.schema ?? {};
  const needs = anyOf.length === 0 ? [rest] : anyOf.map((one) => ({ ...rest, ...(one as object) }));
  const schemas = needs.map((schema) => z.fromJSONSchema(schema));
  const takes = (body: unknown) => schemas.some((schema) => schema.safeParse(body).success);
  return { required: requestBody?.required ?? false, takes };
}

test.each<[string, string, unknown, unknown]>([
  ['patch', '/api/group/{groupID}/variables', { name: 'A' }, { name: 'A', value: '1' }],
  ['patch', '/api/repository/{repoID}/variables', { name: 'A' }, { name: 'A', visibility: 'always' }],
  ['delete', '/api/user/tokens', {}, { name: 'ci' }],
])('the document refuses what the API refuses: %s %s %j', async (method, path, refused, taken) => {
  const { required, takes } = await bodyOf(path, method);
  const outcome = { required, refused: takes(refused), taken: takes(taken) };
  expect(outcome).toEqual({ required: true, refused: false, taken: true });
});

test('no pattern needs a property of Unicode, which generators do not know', async () => {
  const text = JSON.stringify(await served());
  expect(text).toContain('"pattern"');
  expect(text).not.toMatch(/\\\\[pP]\{/);
});

test.each([
  ['/api/docs', 'text/html'],
  ['/api/docs/start.js', 'text/javascript'],
  ['/api/docs/swagger-ui.css', 'text/css'],
  ['/api/docs/swagger-ui-bundle.js', 'text/javascript'],
])('%s is open', async (path, type) => {
  const answer = await request(new TestApi().app).get(path).expect(200);
  expect(answer.type).toBe(type);
});
