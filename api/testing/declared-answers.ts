import { isDeepStrictEqual } from 'node:util';
import type { Express, Response } from 'express';
import type { z } from 'zod';
import { endpointOf, type Endpoint } from '../http/endpoint.ts';
import { errorSchema, errorsOf } from '../openapi/errors.ts';

/**
 * Verifies every JSON response of an app against its endpoint's declaration; responds with 500 and the reason if it
 * differs.
 */
export function verifyDeclarations(app: Express): void {
  const { send } = app.response;
  app.response.send = function (this: Response, body: unknown) {
    const isJson = String(this.getHeader('content-type') ?? '').startsWith('application/json');
    const isCompressed = this.hasHeader('content-encoding');
    const endpoint = isJson && !isCompressed ? endpointOf(this) : undefined;
    const fault = endpoint && faultOf(endpoint, this.statusCode, JSON.parse(String(body)));
    if (fault === undefined) return send.call(this, body);
    this.status(500);
    return send.call(this, JSON.stringify({ error: `${endpoint?.method} ${endpoint?.path}: ${fault}` }));
  };
}

/**
 * Returns how a response differs from its declaration; undefined if it does not. A 500 is left for the test to report.
 */
function faultOf(endpoint: Endpoint, status: number, body: unknown): string | undefined {
  if (status === 500) return undefined;
  if (status === (endpoint.status ?? 200)) return faultOfBody(endpoint.answer, body);
  if (!(status in errorsOf(endpoint))) return `the status ${status} is not declared`;
  return faultOfBody(errorSchema, body);
}

function faultOfBody(schema: z.ZodType, sent: unknown): string | undefined {
  const { data, error } = schema.safeParse(sent);
  if (error) return `the response does not match its declaration: ${error.message}`;
  return isDeepStrictEqual(data, sent)
    ? undefined
    : `the response has fields that are not declared: ${JSON.stringify(sent)}`;
}
