import { existsSync, readFileSync, realpathSync, watch } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { RegistryCredentials } from './session.ts';

/** The kubelet mounts a Secret as one folder, and updates it by replacing this symbolic link. */
const dataLink = '..data';
/** An update causes several events within this time. */
const settleMs = 100;

/**
 * Reads the credentials for Coppice's registry from the files `username` and `password` of a mounted Secret. Expiring
 * credentials can be replaced while the operator runs.
 */
export class CredentialsFolder {
  readonly #folder: string | undefined;
  readonly #logger: Logger;
  #current: RegistryCredentials | undefined;

  /** Reads the folder; undefined stands for a registry without credentials. Throws if a file is missing. */
  constructor(folder: string | undefined, logger: Logger) {
    this.#folder = folder;
    this.#logger = logger;
    this.#current = folder === undefined ? undefined : read(folder);
  }

  readonly current = (): RegistryCredentials | undefined => this.#current;

  /**
   * Calls `onChange` after the credentials were replaced. Does not keep the process running. Returns a function that
   * stops watching.
   */
  watch(onChange: () => void): () => void {
    const folder = this.#folder;
    if (folder === undefined) return () => undefined;
    let timer: NodeJS.Timeout | undefined;
    const watcher = watch(folder, { persistent: false }, () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.#reread(folder, onChange), settleMs).unref();
    });
    watcher.on('error', (error) => {
      this.#logger.error({ err: error }, "the registry's credentials are no longer watched. Restart the operator");
    });
    return () => {
      clearTimeout(timer);
      watcher.close();
    };
  }

  #reread(folder: string, onChange: () => void): void {
    try {
      const { username, password } = read(folder);
      if (username === this.#current?.username && password === this.#current.password) return;
      this.#current = { username, password };
    } catch (error) {
      this.#logger.error({ err: error }, "the registry's new credentials cannot be read; the previous ones are used");
      return;
    }
    this.#logger.info("the registry's credentials were replaced");
    onChange();
  }
}

/** Reads both files of one version of the Secret, without a trailing line break, which editors add. */
function read(folder: string): RegistryCredentials {
  const link = join(folder, dataLink);
  const data = existsSync(link) ? realpathSync(link) : folder;
  const text = (name: string) => readFileSync(join(data, name), 'utf8').replace(/\r?\n$/, '');
  const credentials = { username: text('username'), password: text('password') };
  if (credentials.username !== '' && credentials.password !== '') return credentials;
  throw new Error(`username or password in ${folder} is empty. Check the Secret in registry.credentialsSecret`);
}
