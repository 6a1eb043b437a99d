import type { Request } from 'express';
import { z } from 'zod';
import { steadyClock, type Clock } from '../../kubernetes/clock.ts';
import { nothing, streamEndpoint, type Endpoint } from '../http/endpoint.ts';
import { parse } from '../http/parse.ts';
import { EventStreams, type EventStreamsOptions } from './event-streams.ts';
import { parsePosition, positionField, type Position } from './position.ts';
import { streamEventSchema } from './stream-event.ts';

export interface EventRoutesOptions extends Omit<EventStreamsOptions, 'clock'> {
  clock?: Clock | undefined;
}

const streamQuery = z.object({
  lastEventId: positionField.optional().meta({ description: 'In place of the header `Last-Event-ID`.' }),
});

const description = `Server-sent events; \`data\` is JSON:

- \`change\`: an object that the caller can see was created, changed or deleted; each at most once in 100 ms, with its newest state
- \`reset\`: load all lists again; the first event unless the stream continues after \`Last-Event-ID\`
- \`ready\`: the stream continues after \`Last-Event-ID\`; everything since has been sent
- \`close\`: the stream ends, with the reason; after \`unauthorized\` log in again, otherwise reconnect

An \`id\` of its own follows each batch. A comment is sent every 15 s.`;

/** The route (an extension) of the stream of changes. */
export function eventRoutes({ clock = steadyClock, ...options }: EventRoutesOptions): Endpoint[] {
  const streams = new EventStreams({ ...options, clock });
  return [
    streamEndpoint({
      method: 'get',
      path: '/api/events',
      summary: 'Streams changes of what the caller sees (extension)',
      description,
      find: nothing,
      writes: false,
      query: streamQuery,
      mediaType: 'text/event-stream',
      answer: streamEventSchema,
      also: { 429: 'The request limit, or too many streams of the account are open.' },
      serve: ({ caller, request, response }) => {
        const { lastEventId } = parse(streamQuery, request.query, 'the query');
        if (request.method === 'HEAD') response.type('text/event-stream').end();
        else streams.open({ request, response, caller }, positionIn(request, lastEventId));
        return Promise.resolve();
      },
    }),
  ];
}

/** The header takes precedence: browsers send it when they reconnect to the same address. */
function positionIn(request: Request, inQuery: string | undefined): Position | undefined {
  const text = request.get('last-event-id') ?? inQuery;
  return text === undefined ? undefined : parsePosition(text);
}
