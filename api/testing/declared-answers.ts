import { isDeepStrictEqual } from 'node:util';
import type { Express, Response } from 'express';
import type { z } from 'zod';
import { endpointOf, type Endpoint } from '../http/endpoint.ts';
import { errorSchema, errorsOf } from '../openapi/errors.ts';

/** Holds every JSON answer of an app to what its endpoint declares; one that differs is answered by 500 and the reason. */
export function verifyDeclarations(app: Express): void {
  const { json } = app.response;
  app.response.json = function (this: Response, body: unknown) {
    const endpoint = endpointOf(this);
    const fault = endpoint && faultOf(endpoint, this.statusCode, body);
    if (fault === undefined) return json.call(this, body);
    this.status(500);
    return json.call(this, { error: `${endpoint?.method} ${endpoint?.path}: ${fault}` });
  };
}

/** What of an answer is not declared; a 500 never is, and is for the test to see. */
function faultOf(endpoint: Endpoint, status: number, body: unknown): string | undefined {
  if (status === 500) return undefined;
  if (status === (endpoint.status ?? 200)) return faultOfBody(endpoint.answer, body);
  if (!(status in errorsOf(endpoint))) return `the status ${status} is not declared`;
  return faultOfBody(errorSchema, body);
}

function faultOfBody(schema: z.ZodType, body: unknown): string | undefined {
  const sent: unknown = JSON.parse(JSON.stringify(body));
  const { data, error } = schema.safeParse(sent);
  if (error) return `the answer is not as declared: ${error.message}`;
  return isDeepStrictEqual(data, sent)
    ? undefined
    : `the answer has fields that are not declared: ${JSON.stringify(sent)}`;
}
