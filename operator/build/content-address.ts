import { createHash } from 'node:crypto';

/** Everything that decides what a build gives, apart from its base images. */
export interface BuildInput {
  /** What the build context holds: its Git tree, or what `watch` picks of the repository. */
  contextId: string;
  /** The Dockerfile's path in the repository. */
  dockerfile: string;
  /** The Git ids of the Dockerfile, which may lie outside the context, and of the .dockerignore of its own. */
  dockerfileId: string;
  ignoreFileId: string | undefined;
  target: string | undefined;
  platform: string | undefined;
  args: Record<string, string>;
  /** Of the secrets that the build may read: what is in them is not part of the address. */
  secretIds: readonly string[];
}

/** Raised when the same input would be built differently by a newer Coppice. */
const scheme = 2;
const length = 40;

/** Equal inputs, equal addresses. */
export function contentAddress(input: BuildInput): string {
  const { contextId, dockerfile, dockerfileId, ignoreFileId, target, platform, args, secretIds } = input;
  return hash([
    scheme,
    contextId,
    dockerfile,
    dockerfileId,
    ignoreFileId ?? null,
    target ?? null,
    platform ?? null,
    Object.entries(args).sort(([a], [b]) => (a < b ? -1 : 1)),
    secretIds.toSorted(),
  ]);
}

/** The address of a selection of files: their paths, contents and modes. */
export function selectionId(files: readonly { path: string; id: string; isExecutable: boolean }[]): string {
  return hash(files.map(({ path, id, isExecutable }) => [path, id, isExecutable]));
}

export interface TagInput {
  digests: ReadonlyMap<string, string>;
  repositoryUid: string;
  /** Given when the result is to stand apart: a build without cache. */
  buildId: string | undefined;
}

/**
 * The tag under which the result stands in the registry. `bases` are the digests that the base images' names lead to
 * at the build's start; a name whose digest is not known stands for itself. A build without cache gives its id: its
 * result stands apart, so that it replaces nothing that runs elsewhere. `repositoryUid` keeps Repositories of one name
 * apart: images outlive the one that they were built for, with what its build secrets left in them.
 */
export function imageTag(
  { address, bases }: { address: string; bases: readonly string[] },
  { digests, repositoryUid, buildId }: TagInput,
): string {
  const tag = hash([repositoryUid, address, bases.map((base) => [base, digests.get(base) ?? null])]);
  return buildId === undefined ? tag : `${tag}-${hash([buildId]).slice(0, 12)}`;
}

function hash(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, length);
}
