import { z } from 'zod';
import { runtimeLogKeys } from './keys.ts';

/** A request to read a service's log: the operator follows the log while the request is renewed. */
const followRequestSchema = z.strictObject({
  /** `<namespace>/<name>` of the Environment. */
  environment: z.string(),
  uid: z.string(),
  service: z.string(),
});
export type FollowRequest = z.infer<typeof followRequestSchema>;

/** Pub/Sub channel of follow requests; a lost message is repeated at the next renewal. */
export const FOLLOW_CHANNEL = 'runtime-log:follow-requests';
/** Validity of a follow request, and interval of its renewal, in seconds. */
const followSeconds = 30;
export const FOLLOW_RENEWAL_MS = 8000;

/** Longer than a reader's polling interval, but short, because a slot may become free. In seconds. */
const refusalSeconds = 2;

interface SettingRedis {
  set(key: string, value: string, options: { expiration: { type: 'EX'; value: number } }): Promise<unknown>;
}

export interface FollowRedis extends SettingRedis {
  publish(channel: string, message: string): Promise<unknown>;
}

export async function sendFollowRequest(redis: FollowRedis, followRequest: FollowRequest): Promise<void> {
  const text = JSON.stringify(followRequest);
  const { followRequest: key } = runtimeLogKeys(followRequest.uid, followRequest.service);
  await redis.set(key, text, { expiration: { type: 'EX', value: followSeconds } });
  await redis.publish(FOLLOW_CHANNEL, text);
}

/** Informs those who wait for this log that no more services can be followed now. */
export async function refuseFollowRequest(redis: SettingRedis, { uid, service }: FollowRequest): Promise<void> {
  await redis.set(runtimeLogKeys(uid, service).refused, '1', { expiration: { type: 'EX', value: refusalSeconds } });
}

/** Parses a follow request. Throws if the text is not valid. */
export function parseFollowRequest(text: string): FollowRequest {
  return followRequestSchema.parse(JSON.parse(text));
}
