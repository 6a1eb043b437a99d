import { test } from '@jest/globals';
import express, { type ErrorRequestHandler } from 'express';
import request from 'supertest';
import { z } from 'zod';
import { setCaller } from '../auth/caller.ts';
import { endpoint } from './endpoint.ts';
import { errorResponse } from './error-response.ts';
import { NotFound } from './errors.ts';

const user = { name: 'user-1', accountId: 'a', email: 'a@x.example', passwordHash: '', verified: true };

/** An API of one thing, `here`, for a caller with a read-only token. */
function readOnlyApi(writes: boolean) {
  const app = express();
  app.use((_request, response, next) => {
    setCaller(response, { user, readOnly: true, credential: { token: 't', source: 'header' } });
    next();
  });
  const find = (_caller: unknown, id: string) => {
    if (id !== 'here') throw new NotFound('no such thing');
    return id;
  };
  const body = z.object({ name: z.string() });
  app.post('/:id', endpoint({ find, writes, body, run: (call) => ({ status: 201, body: { name: call.body.name } }) }));
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
])('%s with %s, writes: %p: %d', async (path, body, writes, status) => {
  await request(readOnlyApi(writes)).post(path).send(body).expect(status);
});
