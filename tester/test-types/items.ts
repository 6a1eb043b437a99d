import { z } from 'zod';

/** One item of a result, as in the tester's interface. */
export const itemSchema = z.object({
  Label: z.string(),
  Type: z.enum(['number', 'string', 'image', 'blob']),
  /** Base64 of the UTF-8 text for a number and a string, of the bytes for an image and a blob. */
  Content: z.base64(),
});
export type Item = z.infer<typeof itemSchema>;

const maxText = 2000;

const item = (label: string, type: Item['Type'], content: Buffer): Item => ({
  Label: label,
  Type: type,
  Content: content.toString('base64'),
});

export const numberItem = (label: string, value: number): Item => item(label, 'number', Buffer.from(String(value)));

/** Returns a text item; texts longer than 2,000 characters are truncated. */
export const stringItem = (label: string, text: string): Item => item(label, 'string', Buffer.from(cut(text, maxText)));

export const imageItem = (label: string, bytes: Buffer): Item => item(label, 'image', bytes);

/** Truncates a text to this many characters, the last of which is then an ellipsis. */
export function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1).toWellFormed()}…`;
}
