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

/** So many errors, and so many requests that were blocked, are reported; of errors the others are counted. */
export const MAX_REPORTED = 10;
export const MAX_TEXT = 500;
/** Of a screenshot's bytes in base64. */
const maxScreenshot = 4 * 1024 * 1024;

const milliseconds = z.int().min(0).max(3_600_000);
const errors = z.string().max(MAX_TEXT);

/** What the browser saw. Whoever reads it believes none of it: a page may have taken the browser over. */
export const snapshotSchema = z.strictObject({
  /** Why the page could not be opened. */
  fault: errors.optional(),
  /** The answer's. */
  status: z.int().min(100).max(599).optional(),
  title: errors.optional(),
  hasText: z.boolean(),
  times: z.strictObject({ firstAnswerMs: milliseconds.optional(), loadMs: milliseconds.optional() }),
  /** What the console says as an error, and exceptions that nothing caught. */
  errors: z.array(errors).max(MAX_REPORTED),
  moreErrors: z.int().min(0),
  /** URLs of other hosts that the page asked for. */
  blocked: z.array(errors).max(MAX_REPORTED),
  /** PNG, or JPEG where that is smaller and PNG large; in base64. */
  screenshot: z.base64().max(maxScreenshot).optional(),
});
export type PageSnapshot = z.infer<typeof snapshotSchema>;

/** @throws CouldNotRun where no browser could be started or reached. */
export type PageLoader = (visit: Visit, signal: AbortSignal) => Promise<PageSnapshot>;
