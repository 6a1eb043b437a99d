import { Gauge, type Registry } from 'prom-client';

/**
 * The Redis client's methods that are used here; `info` rejects when Redis is disconnected or does not permit the
 * command.
 */
export interface RedisToMeasure {
  readonly isReady: boolean;
  info: (section: string) => Promise<string>;
}

/** Timeout in milliseconds, so that a scrape does not wait for a Redis that does not respond. */
const timeoutMs = 1000;

/** Registers metrics of Redis: whether it responds to this process, and its memory usage. */
export function redisMetrics(redis: RedisToMeasure, registry: Registry): void {
  let asked: Promise<string | undefined> | undefined;
  /** A scrape collects each metric separately; one response serves all of them. */
  const ask = () => (asked ??= memoryInfo(redis).finally(() => (asked = undefined)));
  const registers = [registry];
  new Gauge({
    name: 'coppice_redis_up',
    help: 'Whether Redis is connected and responds',
    registers,
    async collect() {
      this.set((await ask()) === undefined ? 0 : 1);
    },
  });
  new Gauge({
    name: 'coppice_redis_memory_bytes',
    help: 'Memory that Redis uses; absent if Redis does not report it',
    registers,
    async collect() {
      setOrRemove(this, bytesOf('used_memory', await ask()));
    },
  });
  new Gauge({
    name: 'coppice_redis_max_memory_bytes',
    help: 'Memory limit of Redis; absent if Redis does not report it or has none',
    registers,
    async collect() {
      setOrRemove(this, bytesOf('maxmemory', await ask()));
    },
  });
}

/** Sets a value or removes the sample: a 0 would look like an empty Redis. */
function setOrRemove(gauge: Gauge, bytes: number): void {
  if (bytes > 0) gauge.set(bytes);
  else gauge.remove();
}

function bytesOf(field: string, info = ''): number {
  return Number(new RegExp(`^${field}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
}

/** Returns undefined if Redis is disconnected; an empty text if it does not permit INFO. */
async function memoryInfo(redis: RedisToMeasure): Promise<string | undefined> {
  if (!redis.isReady) return undefined;
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), timeoutMs);
  });
  try {
    return await Promise.race([redis.info('memory').catch(refused), silence]);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns an empty text if Redis responds but refuses INFO, which a user of an external Redis may lack permission for. */
function refused(error: unknown): string | undefined {
  return error instanceof Error && /^(NOPERM|ERR)\b/.test(error.message) ? '' : undefined;
}
