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
  /** The workspace's root. */
  workspace: string;
  /** Where git's own files go, beside the workspace. */
  scratch: string;
  rules: OriginRules;
  /** The environment's own repository. */
  root: Checkout;
  /** For submodules on the host of the environment's own repository. */
  credentials: GitCredentials | undefined;
  /** Whether the environment's own repository's key over SSH reads submodules too. */
  isKeyLent: boolean;
  /** Folders of the workspace that the build reads: submodules that lie in none of them are left out. */
  paths: readonly string[];
}

interface Submodule {
  /** Within the workspace. */
  path: string;
  commit: string;
  url: string;
}

const maxSubmodules = 50;
const deepest = 5;

/**
 * Fetches submodules one by one with a separate git each and URLs determined by Coppice: git never reads
 * .gitmodules to act on it, and its files are never in the workspace. So none of a hostile .gitmodules' tricks meets
 * anything.
 */
export class Submodules {
  readonly #options: SubmodulesOptions;
  #count = 0;

  constructor(options: SubmodulesOptions) {
    this.#options = options;
  }

  /** Fetches what belongs to the checkout, each with its own submodules; `onFetched` is called for each in turn. */
  async fetch(parent: Checkout, onFetched: (checkout: Checkout) => Promise<void>, depth = 1): Promise<void> {
    for (const submodule of await this.#needed(parent)) {
      if (depth > deepest) throw new Error(`submodules are nested more than ${deepest} deep at ${submodule.path}`);
      this.#count += 1;
      if (this.#count > maxSubmodules) throw new Error(`there are more than ${maxSubmodules} submodules`);
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
    // clone.sh takes such a repository as it is too, where no large files bring it here.
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
      if (given === undefined) throw new Error(`.gitmodules has no URL for the submodule ${inWorkspace} comes from`);
      const url = submoduleUrl(given, origin);
      if (url !== undefined) return { path: inWorkspace, commit: id, url };
      throw new Error(
        `the submodule ${inWorkspace} comes from ${JSON.stringify(given)}: ` +
          'give it a relative URL or an https:// URL',
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

  /** With what a submodule is fetched; only on the environment's own repository's host with its credentials. */
  async #transport(path: string, url: string): Promise<Pick<Checkout, 'config' | 'authorization'>> {
    const { scratch, rules, root, credentials, isKeyLent } = this.#options;
    if (parseSshOrigin(url)) {
      // Such a URL is on the very server that the root's configuration leads to (submoduleUrl).
      if (isKeyLent) return { config: root.config, authorization: undefined };
      throw new Error(
        `the submodule ${path} requires the repository's SSH key, ` + 'which builds of forks do not receive',
      );
    }
    const isOwnHost = !parseSshOrigin(root.origin) && new URL(url).origin === new URL(root.origin).origin;
    const own = isOwnHost ? credentials : undefined;
    const config = join(scratch, `${this.#count}.gitconfig`);
    await writeFile(config, gitConfig(await pinOrigin(url, rules), own), { mode: 0o600 });
    return { config, authorization: own && root.authorization };
  }
}

/** Of `submodule.NAME.path` and `.url`: the URL by path. */
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

/** Whether `inner` is the folder, or lies below it. */
function isWithin(inner: string, folder: string): boolean {
  return folder === '' || folder === '.' || inner === folder || inner.startsWith(`${folder}/`);
}
