import { fullRefName, type GitRef } from '../../crds/git-ref.ts';
import { pinOrigin, type Lookup, type PinnedOrigin } from './addresses.ts';
import { SourceRefusedError } from './errors.ts';
import { withGit, type GitRunner } from './git.ts';
import { gitConfig, type GitCredentials } from './git-config.ts';
import { parseTree, type TreeEntry } from './tree.ts';

export interface SourceAccess {
  origin: string;
  credentials: GitCredentials | undefined;
}

/** One commit's files, as far as they are asked for: trees are fetched at once, a file when it is read. */
export interface SourceSnapshot {
  commit: string;
  entries: readonly TreeEntry[];
  /** The text of a file of at most `maxFileBytes`. */
  readFile(path: string): Promise<string>;
}

export interface SourceOptions {
  scratch: string;
  isAddressAllowed: (address: string) => boolean;
  /** TCP ports that an origin may name. */
  ports: readonly number[];
  timeoutMs: number;
  lookup?: Lookup;
}

const maxFileBytes = 1024 * 1024;

/** Reads Git repositories over HTTP(S): the only place of Coppice, beside the clone container, that reaches a Git host. */
export class Source {
  readonly #options: SourceOptions;

  constructor(options: SourceOptions) {
    this.#options = options;
  }

  /** The configuration that a clone container needs for this origin. */
  async gitConfig(access: SourceAccess): Promise<string> {
    return gitConfig(await this.#pin(access), access.credentials);
  }

  /** Whether the repository is there and the credentials may read it. Throws SourceRefused or SourceUnreachable. */
  async check(access: SourceAccess): Promise<void> {
    await this.#withGit(access, (git) => git.run(['ls-remote', '--', access.origin, 'HEAD']));
  }

  /** The commit that the ref points to now. */
  async resolve(access: SourceAccess, ref: GitRef): Promise<string> {
    const name = fullRefName(ref);
    const output = await this.#withGit(access, (git) =>
      git.run(['ls-remote', '--', access.origin, name, `${name}^{}`]),
    );
    const commits = new Map(
      output
        .split('\n')
        .filter(Boolean)
        .map((line) => line.split('\t').reverse() as [string, string]),
    );
    const commit = commits.get(`${name}^{}`) ?? commits.get(name);
    if (commit === undefined) {
      throw new SourceRefusedError(
        'RefNotFound',
        `the ${ref.type} ${ref.name} is not in the repository: push it, then ask for a build`,
      );
    }
    return commit;
  }

  /** Fetches the ref's newest commit without its history and gives its files to `read`. */
  async snapshot<T>(access: SourceAccess, ref: GitRef, read: (snapshot: SourceSnapshot) => Promise<T>): Promise<T> {
    return this.#withGit(access, async (git) => {
      await git.run(['init', '--quiet', '--bare', 'repository']);
      const inside = (...args: string[]) => git.run(['-C', 'repository', ...args]);
      await inside('config', 'remote.origin.url', access.origin);
      await inside('config', 'remote.origin.promisor', 'true');
      await inside('config', 'remote.origin.partialCloneFilter', 'blob:none');
      await inside('fetch', '--quiet', '--depth=1', '--no-tags', '--filter=blob:none', 'origin', fullRefName(ref));
      const commit = (await inside('rev-parse', 'FETCH_HEAD^{commit}')).trim();
      const entries = parseTree(await inside('ls-tree', '-r', '-t', '-z', commit), await rootTree(inside, commit));
      return read({ commit, entries, readFile: (path) => readFile(inside, commit, path) });
    });
  }

  async #withGit<T>(access: SourceAccess, use: (git: GitRunner) => Promise<T>): Promise<T> {
    const config = await this.gitConfig(access);
    return withGit({ scratch: this.#options.scratch, config, timeoutMs: this.#options.timeoutMs }, use);
  }

  #pin(access: SourceAccess): Promise<PinnedOrigin> {
    return pinOrigin(access.origin, this.#options, this.#options.lookup);
  }
}

type Inside = (...args: string[]) => Promise<string>;

async function rootTree(inside: Inside, commit: string): Promise<string> {
  return (await inside('rev-parse', `${commit}^{tree}`)).trim();
}

async function readFile(inside: Inside, commit: string, path: string): Promise<string> {
  const size = Number(await inside('cat-file', '-s', `${commit}:${path}`));
  if (size > maxFileBytes) {
    throw new SourceRefusedError('Refused', `${path} is larger than ${maxFileBytes} bytes`);
  }
  return inside('cat-file', 'blob', `${commit}:${path}`);
}
