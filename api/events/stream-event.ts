import { z } from 'zod';
import { jsonText } from '../http/json-text.ts';
import { changeSchema } from './change.ts';

const resetSchema = z.object({ reason: z.enum(['start', 'gap', 'membership', 'many']) });
const closeSchema = z.object({ reason: z.enum(['unauthorized', 'restart', 'rotate']) });

/** Why a client must load its lists again. */
export type ResetReason = z.infer<typeof resetSchema>['reason'];
/** Why a stream ends. */
export type CloseReason = z.infer<typeof closeSchema>['reason'];

const eventOf = <Name extends string>(name: Name, data: z.ZodType) =>
  z.object({ event: z.literal(name), data: jsonText(data), id: z.string().optional(), retry: z.int().optional() });

/**
 * One event of the stream. Up to OpenAPI 3.1, the schema of `text/event-stream` describes each event by its fields
 * (OpenAPI 3.2, "Server-Sent Event Streams", names them).
 */
export const streamEventSchema = z
  .union([
    eventOf('change', changeSchema),
    eventOf('reset', resetSchema),
    eventOf('ready', z.object({})),
    eventOf('close', closeSchema),
  ])
  .meta({ description: 'One event by its fields.' });
