import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const git = promisify(execFile);

/** Matches `name` or `owner/name`; no part starts with a dot. */
const namePattern = String.raw`(?:[\w-][\w.-]*/)?[\w-][\w.-]*`;
const urlPattern = new RegExp(String.raw`^/(${namePattern})\.git(?:/.*)?$`);
const adminPattern = new RegExp(String.raw`^/admin/repositories/(${namePattern})$`);

/** Returns the repository of a path such as /shop.git/info/refs. */
export const repositoryOf = (path: string): string | undefined => urlPattern.exec(path)?.[1];
/** Returns the repository of a call such as PUT /admin/repositories/shop. */
export const administeredRepository = (path: string): string | undefined => adminPattern.exec(path)?.[1];

/** Bare repositories below one folder, optionally with a user name and password each. */
export class Repositories {
  readonly root: string;
  readonly #creations = new Map<string, Promise<void>>();

  constructor(root: string) {
    this.root = root;
  }

  /** Returns the folder of a repository, which need not exist. */
  folder(name: string): string {
    return join(this.root, `${name}.git`);
  }

  #credentials(name: string): string {
    return join(this.folder(name), 'credentials');
  }

  /** Returns whether the repository is there, with its settings. */
  exists(name: string): boolean {
    return !this.#creations.has(name) && existsSync(join(this.folder(name), 'HEAD'));
  }

  /**
   * Creates an empty repository, unless it exists. Like the public hosts, it serves any commit by its hash, and
   * supports filters. Concurrent calls wait for one creation: a push into one without its settings would be refused.
   */
  create(name: string): Promise<void> {
    const creation = this.#creations.get(name) ?? this.#create(name).finally(() => this.#creations.delete(name));
    this.#creations.set(name, creation);
    return creation;
  }

  async #create(name: string): Promise<void> {
    if (this.exists(name)) return;
    const folder = this.folder(name);
    await git('git', ['init', '--quiet', '--bare', '--initial-branch=main', folder]);
    const settings = {
      'http.receivepack': 'true',
      'uploadpack.allowAnySHA1InWant': 'true',
      'uploadpack.allowFilter': 'true',
    };
    for (const [key, value] of Object.entries(settings)) await git('git', ['-C', folder, 'config', key, value]);
  }

  async delete(name: string): Promise<void> {
    await rm(this.folder(name), { recursive: true, force: true });
  }

  /** Makes a repository private with `user:password`, or public with undefined. */
  async protect(name: string, credentials: string | undefined): Promise<void> {
    if (credentials === undefined) await rm(this.#credentials(name), { force: true });
    else await writeFile(this.#credentials(name), credentials, { mode: 0o600 });
  }

  /** Returns `user:password` of a private repository; undefined for a public one. */
  async credentialsOf(name: string): Promise<string | undefined> {
    if (!existsSync(this.#credentials(name))) return undefined;
    return readFile(this.#credentials(name), 'utf8');
  }
}
