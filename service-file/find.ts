/** The names that a service file may have, the first one that is there wins. */
const NAMES = ['coppice.yaml', 'compose.yaml', 'docker-compose.yml'] as const;
const SIMILAR = new Set([...NAMES, 'coppice.yml', 'compose.yml', 'docker-compose.yaml']);

export type FoundServiceFile =
  | { kind: 'compose'; name: string }
  /** No service file but a Dockerfile: `serviceFileOfDockerfile` reads it. */
  | { kind: 'dockerfile'; name: string }
  /** Only a file whose name is nearly right, such as compose.yml: it is not overlooked in silence. */
  | { kind: 'misnamed'; message: string }
  | { kind: 'missing'; message: string };

/** Which file describes the services of a repository. `names`: the names of the files in its root folder. */
export function findServiceFile(names: readonly string[]): FoundServiceFile {
  const found = NAMES.find((name) => names.includes(name));
  if (found !== undefined) return { kind: 'compose', name: found };
  const similar = names.find((name) => SIMILAR.has(name.toLowerCase()));
  if (similar !== undefined) {
    return { kind: 'misnamed', message: `${similar} is not read: rename it to compose.yaml` };
  }
  if (names.includes('Dockerfile')) return { kind: 'dockerfile', name: 'Dockerfile' };
  return {
    kind: 'missing',
    message: `the repository's root has no service file (${NAMES.join(', ')}) and no Dockerfile: add one`,
  };
}
