import { posix } from 'node:path';
import { z } from 'zod';
import type { Service } from '../service-file/schema.ts';
import { entryAt, type TreeEntry } from '../source/tree.ts';
import { contentAddress } from './content-address.ts';

/** One image to build: where its inputs lie in the workspace, and under which tag the result stands. */
export const plannedImageSchema = z.object({
  service: z.string(),
  tag: z.string(),
  context: z.string(),
  dockerfile: z.string(),
  target: z.string().optional(),
  args: z.record(z.string(), z.string()),
});
export type PlannedImage = z.infer<typeof plannedImageSchema>;

export interface BuildPlan {
  images: PlannedImage[];
  /** What the repository lacks, in words for its author. */
  problems: string[];
}

/**
 * The images that the services ask for. Context and Dockerfile must be what Git says they are, a folder and a file: a
 * symbolic link could lead the container that holds push credentials to files of its own.
 */
export function planImages(services: readonly Service[], entries: readonly TreeEntry[]): BuildPlan {
  const plan: BuildPlan = { images: [], problems: [] };
  for (const { name, build } of services) {
    if (!build) continue;
    const { context, target, args } = build;
    const dockerfile = posix.normalize(posix.join(context, build.dockerfile));
    const contextEntry = entryAt(entries, context);
    const dockerfileEntry = entryAt(entries, dockerfile);
    if (contextEntry?.type !== 'folder') {
      plan.problems.push(`service ${name}: build.context: ${context} ${isNot(contextEntry, 'folder')}`);
    } else if (dockerfileEntry?.type !== 'file') {
      plan.problems.push(`service ${name}: build.dockerfile: ${dockerfile} ${isNot(dockerfileEntry, 'file')}`);
    } else {
      const input = { contextTree: contextEntry.id, dockerfile, dockerfileId: dockerfileEntry.id, target, args };
      plan.images.push({ service: name, tag: contentAddress(input), context, dockerfile, target, args });
    }
  }
  return plan;
}

function isNot(entry: TreeEntry | undefined, wanted: 'folder' | 'file'): string {
  if (entry === undefined) return `is not in the repository (a ${wanted} is needed there)`;
  return `is a ${entry.type === 'symlink' ? 'symbolic link' : entry.type}, not a ${wanted}`;
}
