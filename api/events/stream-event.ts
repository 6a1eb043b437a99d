import { z } from 'zod';
import { changeSchema } from './change.ts';

const resetSchema = z.object({
  reason: z.enum(['start', 'gap', 'membership', 'many']).meta({
    description:
      '`start`: the stream is new; `gap`: missed changes are no longer known, or too many; `membership`: what the caller can see changed; `many`: many objects of a group changed at once.',
  }),
});
const closeSchema = z.object({
  reason: z.enum(['unauthorized', 'restart', 'rotate']).meta({
    description:
      '`unauthorized`: the token is no longer valid; `restart`: the server stops; `rotate`: the stream has become long.',
  }),
});

/** Why a client must load its lists again. */
export type ResetReason = z.infer<typeof resetSchema>['reason'];
/** Why a stream ends. */
export type CloseReason = z.infer<typeof closeSchema>['reason'];

const eventOf = <Name extends string>(name: Name, data: z.ZodType) =>
  z.object({ event: z.literal(name), data: documentedJson(data), id: z.string().optional() });

/**
 * One event of the stream. OpenAPI 3.1 has no schema for the items of a stream, so the response's describes one event,
 * with the field names of OpenAPI 3.2, "Server-Sent Event Streams".
 */
export const streamEventSchema = z
  .union([
    eventOf('change', changeSchema),
    eventOf('reset', resetSchema),
    eventOf('ready', z.object({})),
    eventOf('close', closeSchema),
  ])
  .meta({
    description:
      'One server-sent event. `id` is the last event ID, which a block of its own sets: parsers add it to all later events.',
  });

/**
 * Returns the schema of a string that contains JSON. It checks only that the value is a string; the OpenAPI document
 * shows the given schema as `contentSchema`.
 */
function documentedJson(schema: z.ZodType): z.ZodString {
  return z.string().meta({ contentMediaType: 'application/json', contentSchema: schema });
}
