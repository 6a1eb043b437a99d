import { SourceRefusedError } from '../errors.ts';

/** The branches and tags of a repository, by short name, and the commit of each: of an annotated tag the one it is of. */
export interface RemoteRefs {
  branches: ReadonlyMap<string, string>;
  tags: ReadonlyMap<string, string>;
}

const line = /^([0-9a-f]{40}|[0-9a-f]{64})\t(refs\/\S(?:.*\S)?)$/;

/** A list of more would take the memory and the time of all repositories. */
const maxRefs = 100_000;

/**
 * Commits by full ref name, from what `git ls-remote` prints; lines that are none are left out. Throws SourceRefused
 * where they are more than 100,000.
 */
export function parseRefs(output: string): Map<string, string> {
  const refs = new Map<string, string>();
  const peeled = new Map<string, string>();
  for (const one of output.split('\n')) {
    const [, commit = '', name = ''] = line.exec(one) ?? [];
    if (name === '') continue;
    if (name.endsWith('^{}')) peeled.set(name.slice(0, -3), commit);
    else refs.set(name, commit);
    if (refs.size > maxRefs || peeled.size > maxRefs) throw tooMany();
  }
  // The tag's own object is not a commit.
  for (const [name, commit] of peeled) refs.set(name, commit);
  return refs;
}

/** What `git ls-remote --heads --tags` prints. */
export function parseRemoteRefs(output: string): RemoteRefs {
  const refs = parseRefs(output);
  return { branches: below('refs/heads/', refs), tags: below('refs/tags/', refs) };
}

function below(prefix: string, refs: ReadonlyMap<string, string>): Map<string, string> {
  const own = [...refs].filter(([name]) => name.startsWith(prefix) && name.length > prefix.length);
  return new Map(own.map(([name, commit]) => [name.slice(prefix.length), commit]));
}

function tooMany(): SourceRefusedError {
  return new SourceRefusedError(
    'Refused',
    `the repository has more than ${maxRefs} branches and tags, which is the limit. Delete those that are not needed`,
  );
}
