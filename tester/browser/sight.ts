import { z } from 'zod';

/** What to open. */
export const visitSchema = z.strictObject({
  url: z.url(),
  path: z.string(),
  text: z.string().optional(),
  width: z.int(),
  height: z.int(),
});
export type Visit = z.infer<typeof visitSchema>;

/** So many errors, and so many requests that were blocked, are told; of errors the others are counted. */
export const MOST_TOLD = 10;
export const LONGEST_TEXT = 500;
/** Of a screenshot's bytes in base64. */
const longestScreenshot = 4 * 1024 * 1024;

const milliseconds = z.int().min(0).max(3_600_000);
const told = z.string().max(LONGEST_TEXT);

/** What the browser saw. Whoever reads it believes none of it: a page may have taken the browser over. */
export const sightSchema = z.strictObject({
  /** Why the page could not be opened. */
  fault: told.optional(),
  /** The answer's. */
  status: z.int().min(100).max(599).optional(),
  title: told.optional(),
  hasText: z.boolean(),
  times: z.strictObject({ firstAnswerMs: milliseconds.optional(), loadMs: milliseconds.optional() }),
  /** What the console says as an error, and exceptions that nothing caught. */
  errors: z.array(told).max(MOST_TOLD),
  moreErrors: z.int().min(0),
  /** URLs of other hosts that the page asked for. */
  blocked: z.array(told).max(MOST_TOLD),
  /** PNG, or JPEG where that is smaller and PNG large; in base64. */
  screenshot: z.base64().max(longestScreenshot).optional(),
});
export type Sight = z.infer<typeof sightSchema>;

/** @throws CouldNotRun where no browser could be started or reached. */
export type Look = (visit: Visit, signal: AbortSignal) => Promise<Sight>;
