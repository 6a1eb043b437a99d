import { createHash } from 'node:crypto';

/** Everything that decides what a build gives, apart from its base images. */
export interface BuildInput {
  /** The Git tree of the build context. */
  contextTree: string;
  /** The Dockerfile's path in the repository, beside which its own .dockerignore may lie. */
  dockerfile: string;
  /** The Git id of the Dockerfile, which may lie outside the context. */
  dockerfileId: string;
  target: string | undefined;
  args: Record<string, string>;
}

/** Raised when the same input would be built differently by a newer Coppice. */
const scheme = 1;

/** The tag under which the result of this input stands in the registry: equal inputs, equal tags. */
export function contentAddress(input: BuildInput): string {
  const args = Object.entries(input.args).sort(([a], [b]) => (a < b ? -1 : 1));
  const { contextTree, dockerfile, dockerfileId, target } = input;
  const canonical = JSON.stringify([scheme, contextTree, dockerfile, dockerfileId, target ?? null, args]);
  return createHash('sha256').update(canonical).digest('hex').slice(0, 40);
}
