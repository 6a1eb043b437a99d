import { setImmediate } from 'node:timers/promises';
import type { RepositoryFiles } from '../../../service-file/files.ts';
import { isReservedName } from '../../../service-file/own-variables.ts';
import { declaredArguments, readDockerfile } from '../../../service-file/read-dockerfile.ts';
import { baseInstructions, baseReferences, type BaseInstructions, type BuildVariables } from './base-references.ts';

/** Thrown when the Dockerfiles of a commit exceed a limit. */
export class DockerfileLimitError extends Error {}

const maxKiB = 128;
const maxTotalKiB = 1024;
/** An ordinary Dockerfile has tens of instructions; each service can name another Dockerfile, or other arguments. */
const maxInstructions = 20_000;
/** There are 13 variables, and two for each of at most 20 aliases. */
const maxReserved = 60;

interface ReadDockerfile {
  base: BaseInstructions;
  /** Names of the arguments that it declares and only Coppice sets. */
  reserved: string[];
  /** Names of base images by the variables that they were found with. */
  found: Map<string, string[]>;
}

/**
 * Reads the Dockerfiles of one commit, each once, however many services build from it. They are untrusted, and the
 * operator has one thread, so their total cost is limited, and other work continues between two of them.
 */
export class Dockerfiles {
  readonly #files: Pick<RepositoryFiles, 'read'>;
  readonly #byId = new Map<string, ReadDockerfile>();
  #bytes = 0;
  #instructions = 0;

  constructor(files: Pick<RepositoryFiles, 'read'>) {
    this.#files = files;
  }

  /** Returns the names of declared arguments that only Coppice sets. Throws as basesOf(). */
  async reservedArguments({ path, id }: { path: string; id: string }): Promise<readonly string[]> {
    return (this.#byId.get(id) ?? (await this.#read(path, id))).reserved;
  }

  /**
   * Returns what a build from the Dockerfile with this Git ID uses. Throws DockerfileLimitError, and
   * FileUnreadableError as RepositoryFiles.read().
   */
  async basesOf(
    { path, id }: { path: string; id: string },
    variables: BuildVariables,
  ): Promise<{ bases: string[]; syntax: string | undefined }> {
    const { base, found } = this.#byId.get(id) ?? (await this.#read(path, id));
    const key = JSON.stringify([variables.platform, Object.entries(variables.args)]);
    const bases = found.get(key) ?? this.#find(base, variables);
    found.set(key, bases);
    return { bases, syntax: base.builtInSyntax };
  }

  async #read(path: string, id: string): Promise<ReadDockerfile> {
    const content = await this.#files.read(path);
    if (content.length > maxKiB * 1024)
      throw new DockerfileLimitError(`${path} is larger than ${maxKiB} KiB. Shorten it`);
    this.#bytes += content.length;
    if (this.#bytes > maxTotalKiB * 1024) {
      throw new DockerfileLimitError(`all Dockerfiles together are larger than ${maxTotalKiB} KiB. Shorten them`);
    }
    const dockerfile = readDockerfile(content.toString('utf8'));
    const reserved = declaredArguments(dockerfile.instructions).filter(isReservedName);
    if (reserved.length > maxReserved)
      throw new DockerfileLimitError(`${path} declares more than ${maxReserved} of Coppice's variables. Remove some`);
    const read = {
      base: baseInstructions(dockerfile),
      reserved,
      found: new Map<string, string[]>(),
    };
    this.#byId.set(id, read);
    await setImmediate();
    return read;
  }

  #find(base: BaseInstructions, variables: BuildVariables): string[] {
    this.#instructions += base.instructions.length;
    if (this.#instructions > maxInstructions) {
      throw new DockerfileLimitError(
        `all services together have more than ${maxInstructions} instructions that name images. ` +
          'Use fewer stages, or the same build arguments for services that share a Dockerfile',
      );
    }
    return baseReferences(base, variables);
  }
}
