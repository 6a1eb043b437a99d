import { createHash } from 'node:crypto';

export interface ScriptCall {
  keys: string[];
  arguments: string[];
}

/** What running a script needs of Redis. */
export interface ScriptRedis {
  evalSha(sha: string, call: ScriptCall): Promise<unknown>;
  eval(script: string, call: ScriptCall): Promise<unknown>;
}

/** A Lua script that Redis runs as one step. */
export class Script {
  readonly #text: string;
  readonly #sha: string;

  constructor(text: string) {
    this.#text = text;
    this.#sha = createHash('sha1').update(text).digest('hex');
  }

  /** By its digest; Redis has forgotten the script when it was started again. */
  async run(redis: ScriptRedis, call: ScriptCall): Promise<unknown> {
    try {
      return await redis.evalSha(this.#sha, call);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return redis.eval(this.#text, call);
    }
  }
}
