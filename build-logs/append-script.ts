import { encodeChunks } from './chunks.ts';
import { DROP_LOG, ENDED_INDEX } from './ended-logs.ts';
import type { LogKeys } from './keys.ts';
import type { Plan } from './append-plan.ts';
import { Script, type ScriptRedis } from './script.ts';
import type { LogState, StateChange } from './state.ts';

/** The Redis commands that the writer needs. */
export interface LogWriterRedis extends ScriptRedis {
  hGetAll(key: string): Promise<Record<string, string>>;
}

/**
 * Adds chunks of messages and changes the state atomically, if the state is still the one that the plan was based on.
 * Returns 1, or 0 if another writer has changed it. Redis refuses the explicit IDs if they are not new. If only the
 * stream or only the state exists, because Redis evicted the other, it is deleted: half a log would look complete. If
 * Redis exceeds a share of its `maxmemory`, the oldest ended logs are dropped first; if that is not enough, returns 2
 * and adds nothing, because the remaining memory is for logins and rate-limit counters. KEYS: stream, state. ARGV:
 * expected version, retention in seconds, seq below which nothing is kept or 0, share of the memory or 0, maximum
 * number of ended logs to drop, number of fields, the fields and their values, the chunks and the seq of the last
 * message of each.
 */
const append = new Script(`${DROP_LOG}
local function isFull(share)
  local info = redis.call('INFO', 'memory')
  local limit = tonumber(string.match(info, '\\nmaxmemory:(%d+)') or '0')
  local used = tonumber(string.match(info, '\\nused_memory:(%d+)') or '0')
  return limit > 0 and used > limit * share
end
local version = redis.call('HGET', KEYS[2], 'version') or '0'
if (version == '0') == (redis.call('EXISTS', KEYS[1]) == 1) then
  redis.call('DEL', KEYS[1], KEYS[2])
  return 0
end
if version ~= ARGV[1] then return 0 end
local share = tonumber(ARGV[4])
if share > 0 and isFull(share) then
  for _ = 1, tonumber(ARGV[5]) do
    local oldest = redis.call('ZRANGE', '${ENDED_INDEX}', 0, 0)[1]
    if not oldest or not isFull(share) then break end
    drop(oldest, 'DEL')
  end
  if isFull(share) then return 2 end
end
local firstChunk = 7 + 2 * tonumber(ARGV[6])
for i = firstChunk, #ARGV, 2 do redis.call('XADD', KEYS[1], ARGV[i] .. '-0', 'm', ARGV[i + 1]) end
for i = 7, firstChunk - 1, 2 do redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end
if ARGV[3] ~= '0' then redis.call('XTRIM', KEYS[1], 'MINID', ARGV[3]) end
redis.call('EXPIRE', KEYS[1], ARGV[2])
redis.call('EXPIRE', KEYS[2], ARGV[2])
redis.call('PUBLISH', KEYS[1], '')
return 1
`);

export interface Keeping {
  /** How long the log is kept after its last line, in seconds. */
  retentionSeconds: number;
  /** Drops entries whose last message has a lower seq. */
  firstKept?: number;
  /** Share of Redis's memory, from 0 to 1, above which nothing is added. By default there is no limit. */
  memoryShare?: number;
  /** Maximum number of ended logs to drop when the share is exceeded. Default 0. */
  maxDropped?: number;
}

/** Redis has no memory left for logs. The same lines can be written later. */
export class LogsFullError extends Error {
  override readonly name = 'LogsFullError';
}

/**
 * Carries out a plan. Returns false and changes nothing if Redis's state is no longer `state`. Throws LogsFullError.
 */
export async function runPlan(
  redis: ScriptRedis,
  keys: LogKeys,
  state: LogState,
  plan: Plan,
  { retentionSeconds, firstKept = 0, memoryShare = 0, maxDropped = 0 }: Keeping,
): Promise<boolean> {
  const chunks = encodeChunks(state.seq + 1, plan.messages);
  const bytes = chunks.reduce((sum, { text }) => sum + Buffer.byteLength(text), state.storedBytes);
  const change: StateChange = [
    ...plan.change,
    ['version', String(state.version + 1)],
    ['seq', String(state.seq + plan.messages.length)],
    ['stored', String(bytes)],
  ];
  const done = await append.run(redis, {
    keys: [keys.stream, keys.state],
    arguments: [
      ...[state.version, retentionSeconds, firstKept, memoryShare, maxDropped, change.length].map(String),
      ...change.flat(),
      ...chunks.flatMap(({ last, text }) => [String(last), text]),
    ],
  });
  if (done === 2) {
    const words =
      'the logs in Redis use all of their share of its memory, and there is no ended log to drop. Raise redis.maxMemory';
    throw new LogsFullError(words);
  }
  if (done !== 1) return false;
  state.apply(change);
  return true;
}
