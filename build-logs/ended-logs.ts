/** Sorted set of all ended logs by their end, and hash of their sizes. */
export const ENDED_INDEX = 'build-logs:ended';
export const ENDED_SIZES = 'build-logs:sizes';
export const ENDED_TOTAL = 'build-logs:total';

/**
 * A Lua function that drops a log. `delete` is `UNLINK`, or `DEL` if the memory must be free immediately. Does not work
 * in a Redis Cluster, because the keys can be those of any log.
 */
export const DROP_LOG = `
local function drop(log, delete)
  redis.call(delete, 'build-log:{' .. log .. '}', 'build-log:{' .. log .. '}:state')
  redis.call('DECRBY', '${ENDED_TOTAL}', redis.call('HGET', '${ENDED_SIZES}', log) or '0')
  redis.call('HDEL', '${ENDED_SIZES}', log)
  redis.call('ZREM', '${ENDED_INDEX}', log)
end
`;
