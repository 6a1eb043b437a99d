/** Permitted names of a service file; the first existing one is used. */
const fileNames = ['coppice.yaml', 'compose.yaml', 'docker-compose.yml'] as const;
const similarNames = new Set([...fileNames, 'coppice.yml', 'compose.yml', 'docker-compose.yaml']);

export type FoundServiceFile =
  | { kind: 'compose'; name: string }
  /** There is only a Dockerfile, which `serviceFileOfDockerfile` reads. */
  | { kind: 'dockerfile'; name: string }
  /** There is only a file with a similar name, such as compose.yml, which is reported. */
  | { kind: 'misnamed'; message: string }
  | { kind: 'missing'; message: string };

/** Finds the file that describes the services of a repository. `names`: names of the files in its root folder. */
export function findServiceFile(names: readonly string[]): FoundServiceFile {
  const found = fileNames.find((name) => names.includes(name));
  if (found !== undefined) return { kind: 'compose', name: found };
  const similar = names.find((name) => similarNames.has(name.toLowerCase()));
  if (similar !== undefined) {
    return { kind: 'misnamed', message: `${similar} is not read: rename it to compose.yaml` };
  }
  if (names.includes('Dockerfile')) return { kind: 'dockerfile', name: 'Dockerfile' };
  return {
    kind: 'missing',
    message: `the repository's root has no service file (${fileNames.join(', ')}) and no Dockerfile: add one`,
  };
}
