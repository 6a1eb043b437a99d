import type { LogKeys } from './keys.ts';
import { LogPage } from './page.ts';
import { Script, type ScriptRedis } from './script.ts';

/** The Redis connection for reading, which returns bulk strings as Buffers. */
export type LogReaderRedis = ScriptRedis;

/** Maximum size of a page in bytes, except for a longer single entry (chunks.ts). A slow reader holds one page. */
const pageBytes = 512 * 1024;

/**
 * Returns the entries after a message, joined, up to a number of bytes: one string from Redis, and one Buffer here, for
 * any number of lines. KEYS: stream. ARGV: seq of the message before, bytes.
 */
const pageScript = new Script(`
local chunks, size, after = {}, 0, '(' .. ARGV[1] .. '-0'
while true do
  local entries = redis.call('XRANGE', KEYS[1], after, '+', 'COUNT', 32)
  for _, entry in ipairs(entries) do
    local chunk = entry[2][2]
    if size > 0 and size + #chunk > tonumber(ARGV[2]) then return table.concat(chunks, '\\n') end
    chunks[#chunks + 1] = chunk
    size = size + #chunk + 1
  end
  if #entries < 32 then return table.concat(chunks, '\\n') end
  after = '(' .. entries[#entries][1]
end
`);

const newestScript = new Script(`
local entries = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
return entries[1] and entries[1][2][2] or ''
`);

/** Returns the messages after `seq`, up to one page; undefined if there are none. */
export async function readPage(redis: LogReaderRedis, keys: LogKeys, seq: number): Promise<LogPage | undefined> {
  const call = { keys: [keys.stream], arguments: [String(seq), String(pageBytes)] };
  // The first entry can contain earlier messages, which are removed.
  return toPage(await pageScript.run(redis, call))?.after(seq);
}

/** Returns the newest entry. */
export async function readNewest(redis: LogReaderRedis, keys: LogKeys): Promise<LogPage | undefined> {
  return toPage(await newestScript.run(redis, { keys: [keys.stream], arguments: [] }));
}

function toPage(answer: unknown): LogPage | undefined {
  if (!Buffer.isBuffer(answer)) throw new Error('this connection to Redis does not return bulk strings as Buffers');
  return answer.length === 0 ? undefined : new LogPage(answer);
}
