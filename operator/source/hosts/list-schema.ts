import { z } from 'zod';

/** As many items as a page is asked for at most; no host gives more. */
export const maxPerPage = 100;
/** Of a list without pages. */
export const maxUnpaged = 10_000;

/**
 * A list of at most `most` items that is read up to the first one that is not as expected: z.array() makes an issue of
 * each of them, which for a few megabytes of junk is all memory there is.
 */
export function listSchema<T extends z.ZodType>(item: T, max: number) {
  return z
    .array(z.unknown())
    .max(max)
    .transform((items, context): z.output<T>[] => {
      const read: z.output<T>[] = [];
      for (const [index, one] of items.entries()) {
        const { success, data, error } = item.safeParse(one);
        if (!success) {
          const [issue] = error.issues;
          context.addIssue({ code: 'custom', message: issue?.message, path: [index, ...(issue?.path ?? [])] });
          return z.NEVER;
        }
        read.push(data);
      }
      return read;
    });
}
