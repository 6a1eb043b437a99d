import { z } from 'zod';
import { runtimeLogKeys } from './keys.ts';

/** Somebody wants to read a service's log: the operator follows it as long as the wish is renewed. */
const wishSchema = z.strictObject({
  /** `<namespace>/<name>` of the Environment. */
  environment: z.string(),
  uid: z.string(),
  service: z.string(),
});
export type RuntimeWish = z.infer<typeof wishSchema>;

/** The Pub/Sub channel on which wishes are told; one that is lost is told again at the next renewal. */
export const WISH_CHANNEL = 'runtime-log:wishes';
/** How long a wish lasts, and how often it is renewed by then. */
const WISH_SECONDS = 30;
export const WISH_RENEWAL_MS = 8000;

/** Longer than a reader waits between two looks at it, and soon over: a place may become free. */
const REFUSAL_SECONDS = 2;

interface SettingRedis {
  set(key: string, value: string, options: { expiration: { type: 'EX'; value: number } }): Promise<unknown>;
}

export interface WishRedis extends SettingRedis {
  publish(channel: string, message: string): Promise<unknown>;
}

export async function tellWish(redis: WishRedis, wish: RuntimeWish): Promise<void> {
  const text = JSON.stringify(wish);
  const { wish: key } = runtimeLogKeys(wish.uid, wish.service);
  await redis.set(key, text, { expiration: { type: 'EX', value: WISH_SECONDS } });
  await redis.publish(WISH_CHANNEL, text);
}

/** Tells whoever waits for this log that no more services can be followed now. */
export async function refuseWish(redis: SettingRedis, { uid, service }: RuntimeWish): Promise<void> {
  await redis.set(runtimeLogKeys(uid, service).refused, '1', { expiration: { type: 'EX', value: REFUSAL_SECONDS } });
}

/** Throws when the text is not of ours. */
export function parseWish(text: string): RuntimeWish {
  return wishSchema.parse(JSON.parse(text));
}
