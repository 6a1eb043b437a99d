import { test } from '@jest/globals';
import express, { type ErrorRequestHandler } from 'express';
import request from 'supertest';
import { z } from 'zod';
import { setCaller } from '../auth/caller.ts';
import { endpoint, mount } from './endpoint.ts';
import { errorResponse } from './error-response.ts';
import { NotFound } from '../shared/errors.ts';

const user = { name: 'user-1', accountId: 'a', email: 'a@x.example', passwordHash: '', verified: true };

/** Returns an API with one route, `here`, for a caller with such an API token. */
function apiOf(readOnly: boolean, may: { writes: boolean; needsLogin: boolean }) {
  const app = express();
  app.use((_request, response, next) => {
    const access = readOnly ? 'read' : 'administer';
    const credential = { token: 't', source: 'header' } as const;
    setCaller(response, { user, access, reach: undefined, apiToken: 'ci', credential });
    next();
  });
  const find = (_caller: unknown, { id }: { id: string }) => {
    if (id !== 'here') throw new NotFound('no such thing');
    return id;
  };
  const body = z.object({ name: z.string() });
  const run = (call: { body: { name: string } }) => ({ name: call.body.name });
  mount(app, [
    endpoint({ method: 'post', path: '/{id}', summary: 'it', find, ...may, body, status: 201, answer: body, run }),
  ]);
  const answer: ErrorRequestHandler = (error: unknown, _request, response, next) => {
    if (response.headersSent) return next(error);
    response.status(errorResponse(error).status).end();
  };
  app.use(answer);
  return app;
}

test.each([
  ['/there', '{broken', true, 404],
  ['/here', '{broken', true, 403],
  ['/here', '{"name":"x"}', true, 403],
  ['/here', '{broken', false, 422],
  ['/here', '{"name":1}', false, 422],
  ['/here', '{"name":"x"}', false, 201],
])('answers %s with %s (writes: %p) with %d', async (path, body, writes, status) => {
  await request(apiOf(true, { writes, needsLogin: false }))
    .post(path)
    .send(body)
    .expect(status);
});

test.each([
  ['/there', '{broken', 404],
  ['/here', '{broken', 403],
  ['/here', '{"name":"x"}', 403],
])('answers %s with %s, where a login is needed, with %d', async (path, body, status) => {
  await request(apiOf(false, { writes: true, needsLogin: true }))
    .post(path)
    .send(body)
    .expect(status);
});
