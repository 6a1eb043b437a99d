import { z } from 'zod';

/** Key of the Secret of an environment's test runs that holds the history, as JSON. */
export const HISTORY_KEY = 'history.json';

/** Number of tested builds in the history. */
export const MAX_TESTED_BUILDS = 20;
/** The same limit as in service files. */
export const MAX_TESTS = 10;
export const MAX_NUMBERS = 16;
/** In characters, which have at most 4 bytes in UTF-8. */
export const MAX_LABEL = 40;
/** Size of the history as JSON. One build of the largest permitted size fits; the oldest builds are dropped first. */
export const MAX_HISTORY_BYTES = 32 * 1024;

const findingSchema = z.object({
  name: z.string().max(40),
  outcome: z.enum(['passed', 'failed']),
  /** Labels and values. */
  numbers: z.array(z.tuple([z.string(), z.number()])).max(MAX_NUMBERS),
});
/** What a finished run has found. */
export type Finding = z.infer<typeof findingSchema>;

const testedBuildSchema = z.object({
  build: z.int().min(1),
  commit: z.string().max(64).optional(),
  finishedAt: z.iso.datetime({ offset: true }),
  tests: z.array(findingSchema).max(MAX_TESTS),
});
export type TestedBuild = z.infer<typeof testedBuildSchema>;

const testHistorySchema = z.array(testedBuildSchema).max(MAX_TESTED_BUILDS);
/** Findings of the last tested builds, newest first. */
export type TestHistory = z.infer<typeof testHistorySchema>;

/** Returns the history in a text of the Secret, which users may have changed; empty if it is not valid. */
export function testHistoryIn(text: string | undefined): TestHistory {
  if (text === undefined || text.length > MAX_HISTORY_BYTES) return [];
  try {
    return testHistorySchema.safeParse(JSON.parse(text)).data ?? [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}
