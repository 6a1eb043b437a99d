import { posix } from 'node:path';
import { z } from 'zod';
import { buildFilesFault } from '../../service-file/build-files.ts';
import { FileUnreadableError } from '../../service-file/files.ts';
import type { Build, Service } from '../../service-file/schema.ts';
import type { SourceSnapshot } from '../source/source.ts';
import { entryAt } from '../source/tree.ts';
import { baseReferences, builtInSyntax } from './base-references.ts';
import { contentAddress, selectionId } from './content-address.ts';
import { WatchBudget, WatchTooLargeError, watchedFiles } from './watch.ts';

/** One image to build, as far as a commit says it: which base images it begins with, and not what they are today. */
export const plannedImageSchema = z.object({
  service: z.string(),
  /** Of everything in the commit that decides the result. */
  address: z.string(),
  context: z.string(),
  dockerfile: z.string(),
  target: z.string().optional(),
  platform: z.string().optional(),
  args: z.record(z.string(), z.string()),
  secrets: z.array(z.object({ id: z.string(), bundle: z.string(), key: z.string() })),
  /** What `# syntax=` asks for where buildkitd's own frontend takes its place. */
  syntax: z.string().optional(),
  /** Whole names, sorted: `docker.io/library/node:24`. */
  bases: z.array(z.string()),
});
export type PlannedImage = z.infer<typeof plannedImageSchema>;

export interface BuildPlan {
  images: PlannedImage[];
  /** What the repository lacks, in words for its author. */
  problems: string[];
}

type Snapshot = Pick<SourceSnapshot, 'entries' | 'files'>;

/**
 * The images that the services ask for. Context and Dockerfile must be what Git says they are, a folder and a file: a
 * symbolic link could lead the container that holds push credentials to files of its own. What lies in a submodule is
 * not seen here; the clone checks it (operator/clone).
 */
export async function planImages(
  services: readonly Service[],
  snapshot: Snapshot,
  budget = new WatchBudget(),
): Promise<BuildPlan> {
  const plan: BuildPlan = { images: [], problems: [] };
  for (const service of services) {
    if (!service.build) continue;
    const image = await planImage(service, service.build, snapshot, budget);
    if (typeof image === 'string') plan.problems.push(`service ${service.name}: ${image}`);
    else plan.images.push(image);
  }
  return plan;
}

/** The image, or what the repository lacks for it. */
async function planImage(
  service: Service,
  build: Build,
  snapshot: Snapshot,
  budget: WatchBudget,
): Promise<PlannedImage | string> {
  const { context, target, args, secrets } = build;
  const { platform } = service;
  const dockerfile = posix.normalize(posix.join(context, build.dockerfile));
  const fault = buildFilesFault(build, snapshot.files);
  if (fault) return `build.${fault.key}: ${fault.message}`;
  const contextEntry = find(snapshot, context);
  const dockerfileEntry = find(snapshot, dockerfile);
  try {
    const contextId = build.watch.length > 0 ? await watchedId(build, snapshot, budget) : contextEntry.id;
    if (contextId === undefined) return `x-coppice.watch: no file of the repository fits ${build.watch.join(', ')}`;
    const text = dockerfileEntry.isInSubmodule ? '' : (await snapshot.files.read(dockerfile)).toString('utf8');
    const address = contentAddress({
      contextId,
      dockerfile,
      dockerfileId: dockerfileEntry.id,
      ignoreFileId: entryAt(snapshot.entries, `${dockerfile}.dockerignore`)?.id,
      target,
      platform,
      args,
      secretIds: secrets.map(({ id }) => id),
    });
    const bases = baseReferences(text, { args, platform });
    const syntax = builtInSyntax(text);
    return { service: service.name, address, context, dockerfile, target, platform, args, secrets, syntax, bases };
  } catch (error) {
    if (error instanceof WatchTooLargeError) return `x-coppice.watch: ${error.message}`;
    if (!(error instanceof FileUnreadableError)) throw error;
    return `build.dockerfile: ${dockerfile} ${error.message}`;
  }
}

/** What stands at a path that is there. In a submodule it is known by the submodule's commit. */
function find({ entries }: Snapshot, path: string): { id: string; isInSubmodule: boolean } {
  const entry = entryAt(entries, path);
  if (entry) return { id: entry.id, isInSubmodule: entry.type === 'submodule' };
  const above = entries.find((one) => one.type === 'submodule' && path.startsWith(`${one.path}/`));
  if (!above) throw new Error(`${path} is not in the commit`);
  return { id: `${above.id}${path.slice(above.path.length)}`, isInSubmodule: true };
}

/** The id of the files that `watch` picks, and of what else decides how they are built; undefined for none. */
async function watchedId(
  { watch, context }: Build,
  { entries }: Snapshot,
  budget: WatchBudget,
): Promise<string | undefined> {
  const files = entries.filter(({ type }) => type !== 'folder');
  const counts = await watchedFiles(files, watch, budget);
  if (counts.length === 0) return undefined;
  const ignoreFile = entryAt(entries, posix.normalize(posix.join(context, '.dockerignore')));
  return `${context}:${selectionId([...counts, ...(ignoreFile ? [ignoreFile] : [])])}`;
}
