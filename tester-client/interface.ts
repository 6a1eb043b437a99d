import { z } from 'zod';

/** Responses of the tester. */
export const startedSchema = z.object({ ID: z.string().min(1).max(200), Secret: z.string().min(1).max(200) });

export const statusSchema = z.object({
  Status: z.enum(['running', 'failed', 'finished']),
  /** Why a failed run could not be carried out. */
  message: z.string().optional(),
});
export type TestStatus = z.infer<typeof statusSchema>;

/** `Content` is base64: of the UTF-8 text for numbers and strings, of the bytes for other types. */
export const resultItemSchema = z.object({
  Label: z.string(),
  Type: z.enum(['number', 'string', 'image', 'blob']),
  Content: z.base64(),
});
export type ResultItem = z.infer<typeof resultItemSchema>;

export const resultsSchema = z.object({ result: z.array(resultItemSchema) });

/** Returns the text of the first item with this label; undefined if there is none. */
export function textOf(items: readonly ResultItem[], label: string): string | undefined {
  const item = items.find(({ Label, Type }) => Label === label && Type === 'string');
  return item && Buffer.from(item.Content, 'base64').toString('utf8');
}
