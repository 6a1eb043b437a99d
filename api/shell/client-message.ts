import { z } from 'zod';
import type { ClientMessage, TerminalSize } from '../../shell-protocol/frames.ts';

const maxWords = 200;
/** The API server receives the command in a URL. */
const maxCommandBytes = 16 * 1024;

const side = z.int().min(1).max(2000);
const size: z.ZodType<TerminalSize> = z.strictObject({ columns: side, rows: side });
const word = z.string().refine((text) => text.isWellFormed() && !text.includes('\0'));
const command = z
  .array(word)
  .min(1)
  .max(maxWords)
  .refine((words) => words.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0) <= maxCommandBytes);

const message: z.ZodType<ClientMessage> = z.union([
  z.strictObject({
    start: z.strictObject({ command: command.optional(), terminal: size.optional(), input: z.boolean() }),
  }),
  z.strictObject({ resize: size }),
  z.strictObject({ inputEnd: z.literal(true) }),
  z.strictObject({ confirmed: z.int() }),
]);

/** Parses a control message of a client; undefined if it is not one. */
export function clientMessage(text: string): ClientMessage | undefined {
  try {
    return message.safeParse(JSON.parse(text)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
