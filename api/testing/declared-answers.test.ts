import { expect, test } from '@jest/globals';
import express from 'express';
import request from 'supertest';
import { z } from 'zod';
import { mount, type Endpoint } from '../http/endpoint.ts';
import { verifyDeclarations } from './declared-answers.ts';

const answer = z.object({ name: z.string(), size: z.int().optional() });

function answering(status: number, body: object) {
  const declared: Omit<Endpoint, 'handle'> = {
    method: 'get',
    path: '/api/things',
    summary: 'things',
    isOpen: true,
    writes: false,
    answer,
  };
  const app = express();
  verifyDeclarations(app);
  mount(app, [{ ...declared, handle: (_request, response) => void response.status(status).json(body) }]);
  return request(app).get('/api/things');
}

test.each([
  [200, { name: 'a' }, 200],
  [200, { name: 'a', size: undefined }, 200],
  [200, { name: 'a', colour: 'red' }, 500],
  [200, { name: 1 }, 500],
  [201, { name: 'a' }, 500],
  [429, { error: 'too many' }, 429],
  [429, { message: 'too many' }, 500],
  [418, { error: 'a teapot' }, 500],
])('%d %j', async (status, body, expected) => {
  expect((await answering(status, body)).status).toBe(expected);
});
