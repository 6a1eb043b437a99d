import { createHash } from 'node:crypto';
import { keyedHash } from '../../shared/hash-key.ts';

/** Everything that determines a build's result, except its base images. */
export interface BuildInput {
  /** ID of the build context: its Git tree, or the files that `watch` selects. */
  contextId: string;
  /** The Dockerfile's path in the repository. */
  dockerfile: string;
  /** Git IDs of the Dockerfile, which can be outside the context, and of its own .dockerignore. */
  dockerfileId: string;
  ignoreFileId: string | undefined;
  /** `PATH ID` of the .gitattributes above the context and the Dockerfile, by which Git converts files as it clones. */
  attributes: readonly string[];
  target: string | undefined;
  platform: string | undefined;
  args: Record<string, string>;
  /** IDs of the secrets that the build can read; their contents are not part of the address. */
  secretIds: readonly string[];
}

/** Incremented when a newer Coppice would build the same input differently. */
const scheme = 3;
const length = 40;

/** Returns an address that is equal for equal inputs. The arguments can be secret, so it needs the hash key. */
export function contentAddress(hashKey: Uint8Array, input: BuildInput): string {
  const { contextId, dockerfile, dockerfileId, ignoreFileId, attributes, target, platform, args, secretIds } = input;
  const fields = [
    scheme,
    contextId,
    dockerfile,
    dockerfileId,
    ignoreFileId ?? null,
    target ?? null,
    platform ?? null,
    Object.entries(args).sort(([a], [b]) => (a < b ? -1 : 1)),
    secretIds.toSorted(),
    ...(attributes.length > 0 ? [attributes] : []),
  ];
  return keyedHash(hashKey, fields).slice(0, length);
}

/** Returns the address of a selection of files: their paths, contents and modes. */
export function selectionId(files: readonly { path: string; id: string; isExecutable: boolean }[]): string {
  return hash(files.map(({ path, id, isExecutable }) => [path, id, isExecutable]));
}

export interface TagInput {
  digests: ReadonlyMap<string, string>;
  repositoryUid: string;
  /** Set for builds whose result must be separate: those without cache, and those of forks. */
  separateFor: string | undefined;
}

/**
 * Returns the tag of the result in the registry. `bases`: digests of the base images at the build's start; a name whose
 * digest is unknown represents itself. With `separateFor`, a build replaces and finds no image that is used elsewhere. `repositoryUid` separates Repositories of the same name: images outlive their Repository, and can contain
 * traces of its build secrets.
 */
export function imageTag(
  { address, bases }: { address: string; bases: readonly string[] },
  { digests, repositoryUid, separateFor }: TagInput,
): string {
  const tag = hash([repositoryUid, address, bases.map((base) => [base, digests.get(base) ?? null])]);
  return separateFor === undefined ? tag : `${tag}-${hash([separateFor]).slice(0, 12)}`;
}

function hash(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, length);
}
