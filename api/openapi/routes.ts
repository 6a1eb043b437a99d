import { z } from 'zod';
import type { Endpoint } from '../http/endpoint.ts';
import { openApiDocument } from './document.ts';

/** The document of these endpoints, and of its own. Open: it holds nothing that the public source does not. */
export function openApiRoutes(endpoints: readonly Endpoint[], serverUrl: string): Endpoint[] {
  /** Made when it is first asked for, and once: that takes a tenth of a second. */
  let text: string | undefined;
  const own: Endpoint = {
    method: 'get',
    path: '/api/openapi.json',
    summary: 'This document (extension)',
    isOpen: true,
    writes: false,
    answer: z.looseObject({ openapi: z.string() }),
    handle: (_request, response) => {
      text ??= JSON.stringify(openApiDocument([...endpoints, own], serverUrl));
      response.type('json').send(text);
    },
  };
  return [own];
}
