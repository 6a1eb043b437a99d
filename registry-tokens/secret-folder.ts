import { existsSync, readdirSync, readFileSync, realpathSync, watch } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';

/** The kubelet puts all files of a Secret into one folder, and exchanges this link to it. */
const dataLink = '..data';
/** An exchange is several events. */
const settleMs = 100;

/** What is read from the files of a mounted Secret, kept up to date while the process runs. */
export class SecretFolder<T> {
  readonly #folder: string;
  readonly #parse: (files: ReadonlyMap<string, string>) => T;
  readonly #logger: Logger;
  #current: T;

  /** Throws where the files cannot be read or parsed. */
  constructor(folder: string, parse: (files: ReadonlyMap<string, string>) => T, logger: Logger) {
    this.#folder = folder;
    this.#parse = parse;
    this.#logger = logger;
    this.#current = this.#read();
  }

  readonly current = (): T => this.#current;

  /** Reads the files again when they change; what cannot be parsed is logged, and the former counts. Returns how to stop it. */
  watch(): () => void {
    let timer: NodeJS.Timeout | undefined;
    const watcher = watch(this.#folder, { persistent: false }, () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.#reread(), settleMs).unref();
    });
    watcher.on('error', (error) => this.#logger.error({ err: error }, `${this.#folder} is not watched any more`));
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
      this.#logger.error({ err: error }, `${this.#folder} cannot be read; what was read before counts`);
    }
  }

  /** All files of one version of the Secret. */
  #read(): T {
    const link = join(this.#folder, dataLink);
    const data = existsSync(link) ? realpathSync(link) : this.#folder;
    const names = readdirSync(data).filter((name) => !name.startsWith('.'));
    return this.#parse(new Map(names.map((name) => [name, readFileSync(join(data, name), 'latin1')])));
  }
}
