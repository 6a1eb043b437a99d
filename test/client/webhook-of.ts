import { z } from 'zod';
import { waitFor } from '../support/wait-for.ts';
import type { RestClient } from './rest-client.ts';

const webhookSchema = z.looseObject({ url: z.string(), secret: z.string(), created: z.boolean() });
const settingsSchema = z.looseObject({ webhook: webhookSchema.optional() });

/** What to enter at a repository's Git host, and whether Coppice has done so. */
export type WebhookAnswer = z.infer<typeof webhookSchema>;

/** Waits for a repository's webhook: the operator creates its secret when the repository can be read. */
export function webhookOf(
  client: RestClient,
  repository: string,
  isMeant: (webhook: WebhookAnswer) => boolean = () => true,
): Promise<WebhookAnswer> {
  return waitFor(`the webhook of ${repository}`, 30, async () => {
    const { webhook } = await client.call(settingsSchema, 'GET', `/api/repository/${repository}/settings`);
    return webhook && isMeant(webhook) ? webhook : undefined;
  });
}
