import { z } from 'zod';
import { runtimeLogKeys } from './keys.ts';

/** Somebody wants to read a service's log: the operator follows it as long as the follow request is renewed. */
const followRequestSchema = z.strictObject({
  /** `<namespace>/<name>` of the Environment. */
  environment: z.string(),
  uid: z.string(),
  service: z.string(),
});
export type FollowRequest = z.infer<typeof followRequestSchema>;

/**
 * The Pub/Sub channel of follow requests; a lost message is repeated at the next renewal.
 */
export const FOLLOW_CHANNEL = 'runtime-log:follow-requests';
/** How long a follow request lasts, and how often it is renewed by then. */
const FOLLOW_SECONDS = 30;
export const FOLLOW_RENEWAL_MS = 8000;

/** Longer than a reader waits between two looks at it, and soon over: a place may become free. */
const REFUSAL_SECONDS = 2;

interface SettingRedis {
  set(key: string, value: string, options: { expiration: { type: 'EX'; value: number } }): Promise<unknown>;
}

export interface FollowRedis extends SettingRedis {
  publish(channel: string, message: string): Promise<unknown>;
}

export async function sendFollowRequest(redis: FollowRedis, followRequest: FollowRequest): Promise<void> {
  const text = JSON.stringify(followRequest);
  const { followRequest: key } = runtimeLogKeys(followRequest.uid, followRequest.service);
  await redis.set(key, text, { expiration: { type: 'EX', value: FOLLOW_SECONDS } });
  await redis.publish(FOLLOW_CHANNEL, text);
}

/** Reports whoever waits for this log that no more services can be followed now. */
export async function refuseFollowRequest(redis: SettingRedis, { uid, service }: FollowRequest): Promise<void> {
  await redis.set(runtimeLogKeys(uid, service).refused, '1', { expiration: { type: 'EX', value: REFUSAL_SECONDS } });
}

/** Throws when the text is not of ours. */
export function parseFollowRequest(text: string): FollowRequest {
  return followRequestSchema.parse(JSON.parse(text));
}
