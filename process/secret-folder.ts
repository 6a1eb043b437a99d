import { existsSync, readdirSync, readFileSync, realpathSync, watch } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';

/** The kubelet mounts a Secret as one folder, and updates it by replacing this symbolic link. */
const dataLink = '..data';
/** An update causes several events within this time, in milliseconds. */
const settleMs = 100;

/** Reads the files of a mounted Secret, and updates their value while the process runs. */
export class SecretFolder<T> {
  readonly #folder: string;
  readonly #parse: (files: ReadonlyMap<string, string>) => T;
  readonly #logger: Logger;
  #current: T;

  /** Reads the files. Throws if they cannot be read or parsed. */
  constructor(folder: string, parse: (files: ReadonlyMap<string, string>) => T, logger: Logger) {
    this.#folder = folder;
    this.#parse = parse;
    this.#logger = logger;
    this.#current = this.#read();
  }

  readonly current = (): T => this.#current;

  /**
   * Reads the files again when they change; if they are not valid, logs it and keeps the previous value. Returns a
   * function that stops watching.
   */
  watch(): () => void {
    let timer: NodeJS.Timeout | undefined;
    const watcher = watch(this.#folder, { persistent: false }, () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.#reread(), settleMs).unref();
    });
    watcher.on('error', (error) =>
      this.#logger.error({ err: error }, `${this.#folder} is no longer watched. Restart the process`),
    );
    return () => {
      clearTimeout(timer);
      watcher.close();
    };
  }

  #reread(): void {
    try {
      this.#current = this.#read();
      this.#logger.info({ folder: this.#folder }, 'a Secret has changed');
    } catch (error) {
      this.#logger.error({ err: error }, `${this.#folder} cannot be read; the previous value is used`);
    }
  }

  /** Reads all files of one version of the Secret. */
  #read(): T {
    const link = join(this.#folder, dataLink);
    const data = existsSync(link) ? realpathSync(link) : this.#folder;
    const names = readdirSync(data).filter((name) => !name.startsWith('.'));
    return this.#parse(new Map(names.map((name) => [name, readFileSync(join(data, name), 'latin1')])));
  }
}
