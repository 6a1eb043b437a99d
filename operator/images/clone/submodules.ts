import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pinOrigin, type OriginRules } from '../../source/network/addresses.ts';
import { gitConfig, type GitCredentials } from '../../source/git/git-config.ts';
import { parseSshOrigin } from '../../source/network/ssh-origin.ts';
import type { Checkout } from './checkout.ts';
import { entriesOf, runGit, report } from './git.ts';
import { mustBePlain } from './plain-paths.ts';
import { submoduleUrl } from './submodule-url.ts';

export interface SubmodulesOptions {
  /** Root of the workspace. */
  workspace: string;
  /** Folder for git's own files, outside the workspace. */
  scratch: string;
  rules: OriginRules;
  /** Checkout of the environment's own repository. */
  root: Checkout;
  /** Credentials for submodules on the host of the environment's own repository. */
  credentials: GitCredentials | undefined;
  /** Whether submodules can be read with the SSH key of the environment's own repository. */
  isKeyLent: boolean;
  /** Folders of the workspace that the build reads; other submodules are skipped. */
  paths: readonly string[];
}

interface Submodule {
  /** Path in the workspace. */
  path: string;
  commit: string;
  url: string;
}

const maxSubmodules = 50;
const deepest = 5;

/**
 * Fetches each submodule with a separate git from a URL that Coppice determines. Git itself never acts on .gitmodules,
 * and its own files are outside the workspace, so a hostile .gitmodules has no effect.
 */
export class Submodules {
  readonly #options: SubmodulesOptions;
  #count = 0;

  constructor(options: SubmodulesOptions) {
    this.#options = options;
  }

  /** Fetches the submodules of a checkout, recursively; calls `onFetched` for each. */
  async fetch(parent: Checkout, onFetched: (checkout: Checkout) => Promise<void>, depth = 1): Promise<void> {
    for (const submodule of await this.#needed(parent)) {
      if (depth > deepest) {
        throw new Error(
          `the submodule ${submodule.path} is nested more than ${deepest} deep, which is the limit. Move it to a ` +
            'repository further up, or commit its files',
        );
      }
      this.#count += 1;
      if (this.#count > maxSubmodules) {
        throw new Error(
          `the build contexts need more than ${maxSubmodules} submodules, which is the limit. Remove some, or commit ` +
            'their files',
        );
      }
      const checkout = await this.#checkOut(submodule);
      await onFetched(checkout);
      await this.fetch(checkout, onFetched, depth + 1);
    }
  }

  async #needed({ gitDir, commit, config, path: parentPath, origin }: Checkout): Promise<Submodule[]> {
    const git = (...args: string[]) => runGit(['--git-dir', gitDir, ...args], config);
    const entries = entriesOf(await git('ls-tree', '-r', '-z', commit));
    const links = entries.flatMap((entry) => {
      const [, id, path] = /^160000 commit ([0-9a-f]+)\t(.*)$/s.exec(entry) ?? [];
      if (id === undefined || path === undefined) return [];
      const inWorkspace = parentPath === '' ? path : `${parentPath}/${path}`;
      if (this.#options.paths.some((one) => isWithin(one, inWorkspace) || isWithin(inWorkspace, one))) {
        return [{ id, path, inWorkspace }];
      }
      report(`the submodule ${inWorkspace} is skipped: no build reads it`);
      return [];
    });
    if (links.length === 0) return [];
    // As in clone.sh without large files, submodules of a repository without .gitmodules stay empty.
    if (!entries.some((entry) => entry.endsWith('\t.gitmodules'))) {
      for (const { inWorkspace } of links) report(`${inWorkspace} stays empty: .gitmodules has no URL for it`);
      return [];
    }
    const settings = [
      'config',
      '--blob',
      `${commit}:.gitmodules`,
      '--null',
      '--get-regexp',
      '^submodule\\..*\\.(path|url)$',
    ];
    const urls = urlsByPath(entriesOf(await git(...settings)));
    return links.map(({ id, path, inWorkspace }) => {
      const given = urls.get(path);
      if (given === undefined) throw new Error(`.gitmodules has no URL for the submodule ${inWorkspace}. Add it`);
      const url = submoduleUrl(given, origin);
      if (url !== undefined) return { path: inWorkspace, commit: id, url };
      throw new Error(
        `the URL ${JSON.stringify(given)} of the submodule ${inWorkspace} is not supported: ` +
          'use a relative URL or an https:// URL',
      );
    });
  }

  async #checkOut({ path, commit, url }: Submodule): Promise<Checkout> {
    const { workspace, scratch } = this.#options;
    report(`fetching the submodule ${path} at ${commit} from ${url}`);
    const { config, authorization } = await this.#transport(path, url);
    const folder = join(workspace, path);
    await mustBePlain(workspace, path);
    await mkdir(folder, { recursive: true });
    const gitDir = join(scratch, `${this.#count}.git`);
    const git = (...args: string[]) => runGit(['--git-dir', gitDir, '--work-tree', folder, ...args], config);
    await runGit(['init', '--quiet', '--bare', gitDir], config);
    await git('fetch', '--quiet', '--depth=1', '--no-tags', '--', url, commit).catch(async () => {
      report('its host does not serve single commits: fetching all branches');
      await git('fetch', '--quiet', '--no-tags', '--', url, '+refs/heads/*:refs/heads/*');
    });
    await git('checkout', '--quiet', '--force', '--detach', commit);
    return { gitDir, folder, path, origin: url, commit, config, authorization };
  }

  /**
   * Returns the configuration for fetching a submodule. The credentials are used only on the host of the environment's
   * own repository.
   */
  async #transport(path: string, url: string): Promise<Pick<Checkout, 'config' | 'authorization'>> {
    const { scratch, rules, root, credentials, isKeyLent } = this.#options;
    if (parseSshOrigin(url)) {
      // Such a URL is on the server that the root's configuration connects to (submoduleUrl).
      if (isKeyLent) return { config: root.config, authorization: undefined };
      throw new Error(
        `the submodule ${path} requires the repository's SSH key, which builds of forks do not receive. Give it a ` +
          'public HTTPS URL in .gitmodules, or set trustForks in the Repository',
      );
    }
    const isOwnHost = !parseSshOrigin(root.origin) && new URL(url).origin === new URL(root.origin).origin;
    const own = isOwnHost ? credentials : undefined;
    const config = join(scratch, `${this.#count}.gitconfig`);
    await writeFile(config, gitConfig(await pinOrigin(url, rules), own), { mode: 0o600 });
    return { config, authorization: own && root.authorization };
  }
}

/** Returns URLs by path from the settings `submodule.NAME.path` and `.url`. */
function urlsByPath(settings: readonly string[]): Map<string, string> {
  const byName = new Map<string, { path?: string; url?: string }>();
  for (const setting of settings) {
    const [, name, key, value] = /^submodule\.(.*)\.(path|url)\n(.*)$/s.exec(setting) ?? [];
    if (name === undefined || value === undefined) continue;
    byName.set(name, { ...byName.get(name), [key === 'path' ? 'path' : 'url']: value });
  }
  return new Map(
    [...byName.values()].flatMap(({ path, url }) => (path !== undefined && url !== undefined ? [[path, url]] : [])),
  );
}

/** Returns whether `inner` is the folder or inside it. */
function isWithin(inner: string, folder: string): boolean {
  return folder === '' || folder === '.' || inner === folder || inner.startsWith(`${folder}/`);
}
