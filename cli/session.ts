import { Client } from './api/client.ts';
import { RestInstallation } from './api/rest-installation.ts';
import { findTarget } from './config/target.ts';
import { usageError } from './errors.ts';
import type { Installation } from './installation.ts';
import { note, type Io } from './io.ts';
import { seconds } from './output/duration.ts';
import type { Format } from './output/formats.ts';
import { formatOf } from './output/print.ts';

/** The given options of a command. */
export class Given {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = values;
  }

  text(name: string): string | undefined {
    const value = this.#values[name];
    return typeof value === 'string' ? value : undefined;
  }

  flag(name: string): boolean {
    return this.#values[name] === true;
  }

  list(name: string): string[] {
    const value = this.#values[name];
    return Array.isArray(value) ? value.map(String) : [];
  }

  /** @throws CliError */
  seconds(name: string): number | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : seconds(text);
  }

  /** @throws CliError */
  number(name: string, min: number): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (!Number.isSafeInteger(value) || value < min) {
      throw usageError(`--${name} ${text} is not a whole number of at least ${min}`);
    }
    return value;
  }
}

/** A command's options, streams and server. */
export class Session {
  readonly io: Io;
  readonly given: Given;
  /** The name of this program in messages. */
  readonly command: string;
  #client: Client | undefined;
  #installation: Installation | undefined;

  /**
   * @param client the server; by default that of the options, variables or current context
   * @param installation by default that of the server
   */
  constructor(io: Io, given: Given, { client, installation }: { client?: Client; installation?: Installation } = {}) {
    this.io = io;
    this.given = given;
    this.#client = client;
    this.#installation = installation;
    this.command = installation === undefined ? 'coppice' : 'kubectl coppice';
  }

  /** The server of the chosen context. @throws CliError if there is none */
  get client(): Client {
    this.#client ??= new Client(findTarget(this.io, this.given.text('context')), retryNote(this.io));
    return this.#client;
  }

  /** The installation with the environments: the server's, or the cluster's. @throws CliError if there is none */
  get installation(): Installation {
    this.#installation ??= new RestInstallation(this.client, this.io);
    return this.#installation;
  }

  /** @throws CliError */
  get format(): Format {
    return formatOf(this.given.text('output'));
  }
}

/** Returns how a client reports at a terminal that it waits for the server. */
export function retryNote(io: Io): (message: string) => void {
  return (message) => {
    if (io.isTerminal.err) note(io, message);
  };
}

/** Runs a command. `args`: its arguments in order, undefined where an optional one is absent. */
export type Run = (session: Session, args: readonly (string | undefined)[]) => Promise<void>;
