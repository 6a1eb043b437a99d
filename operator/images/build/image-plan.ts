import { posix } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { buildFilesFault } from '../../../service-file/build-files.ts';
import { FileUnreadableError } from '../../../service-file/files.ts';
import type { Build, Service } from '../../../service-file/schema.ts';
import type { SourceSnapshot } from '../../source/git/source.ts';
import { entryAt } from '../../source/git/tree.ts';
import { baseReferences, builtInSyntax } from './base-references.ts';
import { contentAddress, selectionId } from './content-address.ts';
import { WatchBudget, WatchTooLargeError, watchedFiles } from './watch.ts';

/** One image to build as determined by the commit: the names of its base images, not their current digests. */
export const plannedImageSchema = z.object({
  service: z.string(),
  /** Hash of everything in the commit that determines the result. */
  address: z.string(),
  context: z.string(),
  dockerfile: z.string(),
  target: z.string().optional(),
  platform: z.string().optional(),
  args: z.record(z.string(), z.string()),
  secrets: z.array(z.object({ id: z.string(), bundle: z.string(), key: z.string() })),
  /** The `# syntax=` value that buildkitd's own frontend replaces. */
  syntax: z.string().optional(),
  /** Full names, sorted: `docker.io/library/node:24`. */
  bases: z.array(z.string()),
});
export type PlannedImage = z.infer<typeof plannedImageSchema>;

export interface BuildPlan {
  images: PlannedImage[];
  /** What the repository lacks, as texts for its author. */
  problems: string[];
}

/** Each service of a commit can name another stage of one Dockerfile, and reading it takes time. */
const maxDockerfileKiB = 128;

type Snapshot = Pick<SourceSnapshot, 'entries' | 'files'>;

/**
 * Plans the images that the services need. Context and Dockerfile must be a directory and a file in Git: a symbolic
 * link could point to files of the container that holds push credentials. Contents of submodules are checked by the
 * clone (operator/images/clone).
 */
export async function planImages(
  services: readonly Service[],
  snapshot: Snapshot,
  hashKey: Uint8Array,
  budget = new WatchBudget(),
): Promise<BuildPlan> {
  const plan: BuildPlan = { images: [], problems: [] };
  for (const service of services) {
    if (!service.build) continue;
    // All of a commit's files can be known already: other work continues between two services.
    await setImmediate();
    const image = await planImage(service, service.build, snapshot, hashKey, budget);
    if (typeof image === 'string') plan.problems.push(`service ${service.name}: ${image}`);
    else plan.images.push(image);
  }
  return plan;
}

/** Returns the image, or what the repository lacks for it. */
async function planImage(
  service: Service,
  build: Build,
  snapshot: Snapshot,
  hashKey: Uint8Array,
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
    if (contextId === undefined) return `x-coppice.watch: no file in the repository matches ${build.watch.join(', ')}`;
    const content = dockerfileEntry.isInSubmodule ? Buffer.of() : await snapshot.files.read(dockerfile);
    if (content.length > maxDockerfileKiB * 1024) {
      return `build.dockerfile: ${dockerfile} is larger than ${maxDockerfileKiB} KiB`;
    }
    const text = content.toString('utf8');
    const address = contentAddress(hashKey, {
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

/** Returns the entry at an existing path. In a submodule its ID is the submodule's commit. */
function find({ entries }: Snapshot, path: string): { id: string; isInSubmodule: boolean } {
  const entry = entryAt(entries, path);
  if (entry) return { id: entry.id, isInSubmodule: entry.type === 'submodule' };
  const above = entries.find((one) => one.type === 'submodule' && path.startsWith(`${one.path}/`));
  if (!above) throw new Error(`${path} is not in the commit`);
  return { id: `${above.id}${path.slice(above.path.length)}`, isInSubmodule: true };
}

/** Returns an ID of the files that `watch` selects and of how they are built; undefined if there are none. */
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
