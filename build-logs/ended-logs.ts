/** Every log that has ended, by when it did; and its size, under the same name. */
export const ENDED_INDEX = 'build-logs:ended';
export const ENDED_SIZES = 'build-logs:sizes';
export const ENDED_TOTAL = 'build-logs:total';

/**
 * A function in Lua that drops a log. `delete` is `UNLINK`, or `DEL` where the memory must be free at once. Redis must not be a
 * cluster: the keys are those of any log.
 */
export const DROP_LOG = `
local function drop(log, delete)
  redis.call(delete, 'build-log:{' .. log .. '}', 'build-log:{' .. log .. '}:state')
  redis.call('DECRBY', '${ENDED_TOTAL}', redis.call('HGET', '${ENDED_SIZES}', log) or '0')
  redis.call('HDEL', '${ENDED_SIZES}', log)
  redis.call('ZREM', '${ENDED_INDEX}', log)
end
`;
