import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from '@jest/globals';
import request from 'supertest';
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

test.each([
  ['/api/docs', 'text/html'],
  ['/api/docs/start.js', 'text/javascript'],
  ['/api/docs/swagger-ui.css', 'text/css'],
  ['/api/docs/swagger-ui-bundle.js', 'text/javascript'],
])('%s is open', async (path, type) => {
  const answer = await request(new TestApi().app).get(path).expect(200);
  expect(answer.type).toBe(type);
});
