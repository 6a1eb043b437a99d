import { posix } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { buildFilesFault } from '../../../service-file/build-files.ts';
import { FileUnreadableError } from '../../../service-file/files.ts';
import type { OwnVariables } from '../../../service-file/own-variables.ts';
import type { Build, Service } from '../../../service-file/schema.ts';
import type { SourceSnapshot } from '../../source/git/source.ts';
import { entriesByPath, entryAt, type TreeEntry } from '../../source/git/tree.ts';
import type { BuildVariables } from './base-references.ts';
import { contentAddress, selectionId } from './content-address.ts';
import { DockerfileLimitError, Dockerfiles } from './dockerfiles.ts';
import { WatchBudget, WatchTooLargeError, watchedFiles } from './watch.ts';

/** One image to build as determined by the commit: the names of its base images, not their current digests. */
export const plannedImageSchema = z.object({
  service: z.string(),
  /** Name of the included Repository that it is built from; absent for the environment's own. */
  included: z.string().optional(),
  /** Hash of everything in the commit that determines the result. */
  address: z.string(),
  context: z.string(),
  dockerfile: z.string(),
  target: z.string().optional(),
  platform: z.string().optional(),
  args: z.record(z.string(), z.string()),
  /** In a stored plan `bundle` is the name of the Secret. */
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

type Snapshot = Pick<SourceSnapshot, 'entries' | 'files'>;

/** What the images of one commit are planned from. */
interface Commit extends Snapshot {
  byPath: ReadonlyMap<string, TreeEntry>;
  dockerfiles: Dockerfiles;
  budget: WatchBudget;
  hashKey: Uint8Array;
  own: OwnVariables;
}

export interface PlanOptions {
  hashKey: Uint8Array;
  /** The variables that Coppice sets: a build gets those that its Dockerfile declares. */
  own: OwnVariables;
}

/**
 * Plans the images that the services need. Context and Dockerfile must be a directory and a file in Git: a symbolic
 * link could point to files of the container that holds push credentials. Contents of submodules are checked by the
 * clone (operator/images/clone).
 */
export async function planImages(
  services: readonly Service[],
  snapshot: Snapshot,
  { hashKey, own }: PlanOptions,
  budget = new WatchBudget(),
): Promise<BuildPlan> {
  const plan: BuildPlan = { images: [], problems: [] };
  const byPath = entriesByPath(snapshot.entries);
  const commit = { ...snapshot, byPath, dockerfiles: new Dockerfiles(snapshot.files), budget, hashKey, own };
  for (const service of services) {
    if (!service.build) continue;
    // All of a commit's files can be known already: other work continues between two services.
    await setImmediate();
    const image = await planImage(service, service.build, commit);
    if (typeof image === 'string') plan.problems.push(`service ${service.name}: ${image}`);
    else plan.images.push(image);
  }
  return plan;
}

/** Returns the image, or what the repository lacks for it. */
async function planImage(service: Service, build: Build, commit: Commit): Promise<PlannedImage | string> {
  const { context, target, secrets } = build;
  const { platform } = service;
  const dockerfile = posix.normalize(posix.join(context, build.dockerfile));
  const fault = buildFilesFault(build, commit.files);
  if (fault) return `build.${fault.key}: ${fault.message}`;
  const contextEntry = find(commit, context);
  const dockerfileEntry = find(commit, dockerfile);
  try {
    const contextId = build.watch.length > 0 ? await watchedId(build, commit) : contextEntry.id;
    if (contextId === undefined)
      return `x-coppice.watch: no file in the repository matches ${build.watch.join(', ')}. Correct the globs`;
    // The clone reads Dockerfiles of submodules.
    const { args, bases, syntax } = dockerfileEntry.isInSubmodule
      ? { args: build.args, bases: [], syntax: undefined }
      : await readBases(commit, { path: dockerfile, id: dockerfileEntry.id }, { args: build.args, platform });
    const address = contentAddress(commit.hashKey, {
      contextId,
      dockerfile,
      dockerfileId: dockerfileEntry.id,
      ignoreFileId: entryAt(commit.byPath, `${dockerfile}.dockerignore`)?.id,
      attributes: attributesAbove(build, posix.dirname(dockerfile), commit),
      target,
      platform,
      args,
      secretIds: secrets.map(({ id }) => id),
    });
    return { service: service.name, address, context, dockerfile, target, platform, args, secrets, syntax, bases };
  } catch (error) {
    if (error instanceof DockerfileLimitError) return `build.dockerfile: ${error.message}`;
    if (error instanceof WatchTooLargeError) return `x-coppice.watch: ${error.message}`;
    if (!(error instanceof FileUnreadableError)) throw error;
    return `build.dockerfile: ${dockerfile} ${error.message}`;
  }
}

/**
 * Returns `PATH ID` of the .gitattributes that apply to the context or the Dockerfile, unless they are in the context's
 * tree, whose ID contains them.
 */
function attributesAbove({ context, watch }: Build, ofDockerfile: string, { byPath }: Commit): string[] {
  const tree = posix.normalize(context);
  const isInTree = (folder: string) => tree === '.' || folder === tree || folder.startsWith(`${tree}/`);
  const above = [...new Set([...parentsOf(tree), ...parentsOf(posix.normalize(ofDockerfile))])].sort();
  return above
    .filter((folder) => watch.length > 0 || !isInTree(folder))
    .flatMap((folder) => {
      const entry = entryAt(byPath, posix.join(folder, '.gitattributes'));
      return entry ? [`${entry.path} ${entry.id}`] : [];
    });
}

/** Returns the folder and all above it; the last one is `.`. */
function parentsOf(folder: string): string[] {
  const parents = [folder];
  for (let one = folder; one !== '.'; parents.push(one)) one = posix.dirname(one);
  return parents;
}

/** Returns the base images, and the arguments of the build with those of Coppice's that its Dockerfile declares. */
async function readBases(
  { dockerfiles, own }: Commit,
  dockerfile: { path: string; id: string },
  { args: given, platform }: BuildVariables,
) {
  const declared = await dockerfiles.reservedArguments(dockerfile);
  const values = declared.flatMap((name) => {
    const value = own.get(name)?.value;
    return value === undefined ? [] : [[name, value] as const];
  });
  const args = { ...Object.fromEntries(values), ...given };
  return { args, ...(await dockerfiles.basesOf(dockerfile, { args, platform })) };
}

/** Returns the entry at an existing path. In a submodule its ID is the submodule's commit. */
function find(commit: Commit, path: string): { id: string; isInSubmodule: boolean } {
  const entry = entryAt(commit.byPath, path);
  if (entry) return { id: entry.id, isInSubmodule: entry.type === 'submodule' };
  const above = commit.entries.find((one) => one.type === 'submodule' && path.startsWith(`${one.path}/`));
  if (!above) throw new Error(`${path} is not in the commit`);
  return { id: `${above.id}${path.slice(above.path.length)}`, isInSubmodule: true };
}

/** Returns an ID of the files that `watch` selects and of how they are built; undefined if there are none. */
async function watchedId({ watch, context }: Build, commit: Commit): Promise<string | undefined> {
  const files = commit.entries.filter(({ type }) => type !== 'folder');
  const counts = await watchedFiles(files, watch, commit.budget);
  if (counts.length === 0) return undefined;
  const ignoreFile = entryAt(commit.byPath, posix.normalize(posix.join(context, '.dockerignore')));
  return `${context}:${selectionId([...counts, ...(ignoreFile ? [ignoreFile] : [])])}`;
}
