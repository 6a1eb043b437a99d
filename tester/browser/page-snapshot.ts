import { z } from 'zod';

/** The page to open. */
export const visitSchema = z.strictObject({
  url: z.url(),
  path: z.string(),
  text: z.string().optional(),
  width: z.int(),
  height: z.int(),
  /** Sent with each request, all of which are to the environment. */
  headers: z.record(z.string(), z.string()).optional(),
});
export type Visit = z.infer<typeof visitSchema>;

/** Maximum number of reported errors, and of blocked requests; further errors are only counted. */
export const MAX_REPORTED = 10;
export const MAX_TEXT = 500;
/** Maximum number of base64 characters of a screenshot. */
const maxScreenshot = 4 * 1024 * 1024;

const milliseconds = z.int().min(0).max(3_600_000);
const errors = z.string().max(MAX_TEXT);

/** What the browser saw. Untrusted: the page may have compromised the browser. */
export const snapshotSchema = z.strictObject({
  /** Why the page could not be opened. */
  fault: errors.optional(),
  /** Status of the response. */
  status: z.int().min(100).max(599).optional(),
  title: errors.optional(),
  hasText: z.boolean(),
  times: z.strictObject({ firstAnswerMs: milliseconds.optional(), loadMs: milliseconds.optional() }),
  /** Errors in the console, and uncaught exceptions. */
  errors: z.array(errors).max(MAX_REPORTED),
  moreErrors: z.int().min(0),
  /** URLs of other hosts that the page requested. */
  blocked: z.array(errors).max(MAX_REPORTED),
  /** PNG, or JPEG if the PNG is large and the JPEG smaller; in base64. */
  screenshot: z.base64().max(maxScreenshot).optional(),
});
export type PageSnapshot = z.infer<typeof snapshotSchema>;

/** Opens a page and returns its snapshot. @throws CouldNotRun when no browser could be started or reached */
export type PageLoader = (visit: Visit, signal: AbortSignal) => Promise<PageSnapshot>;
