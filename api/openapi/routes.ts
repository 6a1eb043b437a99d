import { z } from 'zod';
import type { Endpoint } from '../http/endpoint.ts';
import { StaticText } from '../http/static-text.ts';
import { openApiDocument } from './document.ts';

/** Serves the OpenAPI document of these endpoints and itself. Needs no token: the source code is public. */
export function openApiRoutes(endpoints: readonly Endpoint[], serverUrl: string): Endpoint[] {
  // Created on the first request, because that takes 0.1 s.
  const text = new StaticText('json', () =>
    Buffer.from(JSON.stringify(openApiDocument([...endpoints, own], serverUrl))),
  );
  const own: Endpoint = {
    method: 'get',
    path: '/api/openapi.json',
    summary: 'This document (extension)',
    isOpen: true,
    writes: false,
    answer: z.looseObject({ openapi: z.string() }),
    handle: (request, response) => text.send(request, response),
  };
  return [own];
}
