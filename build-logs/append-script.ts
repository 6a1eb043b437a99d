import { createHash } from 'node:crypto';
import type { BuildLogKeys } from './keys.ts';
import { encodeMessage, MESSAGE_FIELD } from './message.ts';
import type { Plan } from './plan.ts';
import type { LogState, StateChange } from './state.ts';

/** What the writer needs of Redis. */
export interface BuildLogWriterRedis {
  evalSha(sha: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  hGetAll(key: string): Promise<Record<string, string>>;
}

/**
 * Adds messages and changes the state, all or nothing, if the state is still the one that the plan was made from;
 * returns 1, or 0 when another writer was there. The explicit ids are refused by Redis if ever they were not new.
 * KEYS: stream, state. ARGV: expected version, seq of the last message, retention in seconds, number of fields,
 * the fields and their values, the messages.
 */
const SCRIPT = `
if (redis.call('HGET', KEYS[2], 'version') or '0') ~= ARGV[1] then return 0 end
local seq = tonumber(ARGV[2])
local firstMessage = 5 + 2 * tonumber(ARGV[4])
for i = firstMessage, #ARGV do
  seq = seq + 1
  redis.call('XADD', KEYS[1], string.format('%.0f-0', seq), '${MESSAGE_FIELD}', ARGV[i])
end
for i = 5, firstMessage - 1, 2 do redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end
redis.call('EXPIRE', KEYS[1], ARGV[3])
redis.call('EXPIRE', KEYS[2], ARGV[3])
redis.call('PUBLISH', KEYS[1], string.format('%.0f', seq))
return 1
`;
const SCRIPT_SHA = createHash('sha1').update(SCRIPT).digest('hex');

/** Carries out a plan. False, and nothing done, when Redis's state is not `state` any more. */
export async function runPlan(
  redis: BuildLogWriterRedis,
  keys: BuildLogKeys,
  state: LogState,
  plan: Plan,
  retentionSeconds: number,
): Promise<boolean> {
  const change: StateChange = [
    ...plan.change,
    ['version', String(state.version + 1)],
    ['seq', String(state.seq + plan.messages.length)],
  ];
  const call = {
    keys: [keys.stream, keys.state],
    arguments: [
      ...[state.version, state.seq, retentionSeconds, change.length].map(String),
      ...change.flat(),
      ...plan.messages.map(encodeMessage),
    ],
  };
  if ((await evaluate(redis, call)) !== 1) return false;
  state.apply(change);
  return true;
}

/** By its digest; Redis has forgotten the script when it was started again. */
async function evaluate(redis: BuildLogWriterRedis, call: { keys: string[]; arguments: string[] }): Promise<unknown> {
  try {
    return await redis.evalSha(SCRIPT_SHA, call);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return redis.eval(SCRIPT, call);
  }
}
