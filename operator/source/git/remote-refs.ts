import { SourceRefusedError } from '../errors.ts';

/** Commits of a repository's branches and tags, by short name. For an annotated tag, the commit that it points to. */
export interface RemoteRefs {
  branches: ReadonlyMap<string, string>;
  tags: ReadonlyMap<string, string>;
}

const line = /^([0-9a-f]{40}|[0-9a-f]{64})\t(refs\/\S(?:.*\S)?)$/;

/** A longer list would use memory and time that all repositories share. */
const maxRefs = 100_000;

/**
 * Returns commits by full ref name from the output of `git ls-remote`; ignores other lines. Throws SourceRefusedError
 * if there are more than 100,000.
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
  // The object of an annotated tag is not a commit.
  for (const [name, commit] of peeled) refs.set(name, commit);
  return refs;
}

/** Parses the output of `git ls-remote --heads --tags`. */
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
