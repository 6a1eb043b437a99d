import { createHash } from 'node:crypto';

export interface ScriptCall {
  keys: string[];
  arguments: string[];
}

/** The Redis commands that running a script needs. */
export interface ScriptRedis {
  evalSha(sha: string, call: ScriptCall): Promise<unknown>;
  eval(script: string, call: ScriptCall): Promise<unknown>;
}

/** A Lua script, which Redis runs atomically. */
export class Script {
  readonly #text: string;
  readonly #sha: string;

  constructor(text: string) {
    this.#text = text;
    this.#sha = createHash('sha1').update(text).digest('hex');
  }

  /** Runs the script by its digest; loads it again if Redis was restarted. */
  async run(redis: ScriptRedis, call: ScriptCall): Promise<unknown> {
    try {
      return await redis.evalSha(this.#sha, call);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return redis.eval(this.#text, call);
    }
  }
}
