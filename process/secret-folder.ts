import { existsSync, readdirSync, readFileSync, realpathSync, watch } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';

/** The files of one version of a Secret, by name. */
export type SecretFiles = ReadonlyMap<string, Buffer>;

/** The kubelet mounts a Secret as one folder, and updates it by replacing this symbolic link. */
const dataLink = '..data';
/** An update causes several events within this time, in milliseconds. */
const settleMs = 100;

/** Reads the files of a mounted Secret, and updates their value while the process runs. */
export class SecretFolder<T> {
  readonly #folder: string;
  readonly #parse: (files: SecretFiles) => T;
  readonly #logger: Logger;
  #files: SecretFiles;
  #current: T;

  /** Reads the files. Throws if they cannot be read or parsed. */
  constructor(folder: string, parse: (files: SecretFiles) => T, logger: Logger) {
    this.#folder = folder;
    this.#parse = parse;
    this.#logger = logger;
    this.#files = readFiles(folder);
    this.#current = parse(this.#files);
  }

  readonly current = (): T => this.#current;

  /**
   * Reads the files again when they change, and calls `onChange` if their content differs; if they are not valid, logs
   * it and keeps the previous value. Does not keep the process running. Returns a function that stops watching.
   */
  watch(onChange?: () => void): () => void {
    let timer: NodeJS.Timeout | undefined;
    const watcher = watch(this.#folder, { persistent: false }, () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.#reread(onChange), settleMs).unref();
    });
    watcher.on('error', (error) =>
      this.#logger.error({ err: error }, `${this.#folder} is no longer watched. Restart the process`),
    );
    return () => {
      clearTimeout(timer);
      watcher.close();
    };
  }

  #reread(onChange: (() => void) | undefined): void {
    try {
      const files = readFiles(this.#folder);
      if (isEqual(files, this.#files)) return;
      this.#current = this.#parse(files);
      this.#files = files;
    } catch (error) {
      this.#logger.error({ err: error }, `${this.#folder} cannot be read; the previous value is used`);
      return;
    }
    this.#logger.info({ folder: this.#folder }, 'a Secret has changed');
    onChange?.();
  }
}

/** Returns the text of a file without a trailing line break, which editors add; empty if the file is missing. */
export function textIn(files: SecretFiles, name: string): string {
  return (files.get(name)?.toString('utf8') ?? '').replace(/\r?\n$/, '');
}

/** Reads all files of one version of the Secret. */
function readFiles(folder: string): SecretFiles {
  const link = join(folder, dataLink);
  const data = existsSync(link) ? realpathSync(link) : folder;
  const names = readdirSync(data).filter((name) => !name.startsWith('.'));
  return new Map(names.map((name) => [name, readFileSync(join(data, name))]));
}

function isEqual(some: SecretFiles, others: SecretFiles): boolean {
  return some.size === others.size && [...some].every(([name, content]) => others.get(name)?.equals(content) === true);
}
