import { z } from 'zod';
import { isRefName } from '../../../crds/git-ref.ts';
import { listSchema } from './list-schema.ts';

/** Number of a pull request, up to the maximum of a GitRef. */
export const numberSchema = z.int().min(1).max(999_999_999);
/** A commit ID, complete or abbreviated. */
export const commitSchema = z.string().regex(/^[0-9a-f]{7,64}$/);
/** As many as GitHub permits. Azure DevOps and GitLab set no limit: with more of them, the labels count as not reported. */
const maxLabels = 100;

/** GitLab permits the longest labels. */
const labelSchema = z.string().max(255);

/**
 * The last line of a comment, with any line ending, by which Coppice finds its own. The rest is not kept: the comments of
 * strangers can be long and many. A marker is much shorter than what is kept of a line.
 */
export const lastLineSchema = z.string().transform((text) => {
  const trimmed = text.trim();
  return trimmed.slice(trimmed.lastIndexOf('\n') + 1).slice(0, 1000);
});

/**
 * A field that only rules need, which is missing at older servers; with any other form it counts as missing, because
 * the rest of the list is needed nevertheless.
 */
const fact = <T extends z.ZodType>(schema: T) => schema.nullish().catch(undefined);
export const factSchemas = {
  /** Name of a branch or its ref, of any form: its author chooses it. Git stores no longer ones in a file system. */
  branch: fact(z.string().max(512)),
  flag: fact(z.boolean()),
  /** One of the host's values; others than the known ones come with its next version. */
  name: fact(z.string().max(100)),
  /** A user of the host. */
  id: fact(z.object({ id: z.int() })),
  /** Labels as names. */
  labels: fact(listSchema(labelSchema, maxLabels)),
  /** Labels as objects with names. */
  namedLabels: fact(listSchema(z.object({ name: labelSchema }), maxLabels)),
};

/** Name of a project or repository, or an ID. */
export const nameSchema = z.string().min(1).max(255);

/**
 * Returns whether git can be asked for this ref. The author of a pull request chooses its branch's name, so a bad name
 * is not a fault of the host.
 */
export function isReadableRef(fullName: string): boolean {
  return fullName.length <= 255 && isRefName(fullName);
}

/** Returns the short name of a branch; undefined for any other ref. */
export function shortBranch(fullName: string | null | undefined): string | undefined {
  const prefix = 'refs/heads/';
  return fullName?.startsWith(prefix) === true ? fullName.slice(prefix.length) : undefined;
}
