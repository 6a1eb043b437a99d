import { z } from 'zod';

/** Maximum number of items that a page is requested with; no host returns more. */
export const MAX_PER_PAGE = 100;
/** Maximum number of items of a list without pages. */
export const MAX_UNPAGED = 10_000;

/**
 * Returns the schema of a list with at most `max` items, which stops at the first invalid item. z.array() creates an
 * issue for each invalid item, which for a few megabytes of junk exhausts the memory.
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
