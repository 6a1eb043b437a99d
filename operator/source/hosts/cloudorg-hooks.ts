import { z } from 'zod';
import { type HostApi, pathOf } from './host-api.ts';
import { listSchema, MAX_UNPAGED } from './list-schema.ts';
import type { Webhook } from './host.ts';
import { unlessNotAllowed } from './not-allowed.ts';

const subscriptionSchema = z.object({
  id: z.string(),
  eventType: z.string(),
  publisherInputs: z.object({ repository: z.string().nullish() }).nullish(),
  consumerInputs: z.object({ url: z.string().nullish() }).nullish(),
});
type Subscription = z.infer<typeof subscriptionSchema>;

const path = '/_apis/hooks/subscriptions';
const revision = 'api-version=7.1';
const eventTypes = ['git.push', 'git.pullrequest.created', 'git.pullrequest.updated'];

/** Azure DevOps responds to a token without permission for service hooks with 401 or 403. */
const notAllowed = ['AuthenticationFailed', 'Forbidden', 'NotFound'] as const;

/** User name in deliveries of Azure DevOps; the password is the webhook's secret. */
const hookUsername = 'coppice';

/** Manages a webhook at Azure DevOps, which consists of one subscription for each type of event. */
export class CloudorgHooks {
  readonly #api: HostApi;

  constructor(api: HostApi) {
    this.#api = api;
  }

  /** Creates or updates the subscriptions; returns their IDs, separated by commas. */
  ensure(webhook: Webhook, location: { projectId: string; repository: string }): Promise<string | undefined> {
    return unlessNotAllowed(async () => {
      const query = `publisherId=tfs&consumerId=webHooks&consumerActionId=httpRequest&${revision}`;
      const list = z.object({ value: listSchema(subscriptionSchema, MAX_UNPAGED) });
      const { value: all } = await this.#api.getLong(`${path}?${query}`, list);
      const ids: string[] = [];
      for (const eventType of eventTypes) {
        const found = all.find((one) => isOurs(one, eventType, webhook.url, location.repository));
        ids.push(await this.#write(eventType, webhook, location, found?.id));
      }
      return ids.join(',');
    }, notAllowed);
  }

  async #write(
    eventType: string,
    { url, secret }: Webhook,
    publisherInputs: { projectId: string; repository: string },
    id: string | undefined,
  ): Promise<string> {
    const body = {
      publisherId: 'tfs',
      eventType,
      resourceVersion: '1.0',
      consumerId: 'webHooks',
      consumerActionId: 'httpRequest',
      publisherInputs,
      consumerInputs: { url, basicAuthUsername: hookUsername, basicAuthPassword: secret },
    };
    const written =
      id === undefined
        ? await this.#api.write('POST', `${path}?${revision}`, body, subscriptionSchema)
        : await this.#api.write('PUT', `${path}${pathOf(id)}?${revision}`, { id, ...body }, subscriptionSchema);
    return written.id;
  }

  async remove(ids: string): Promise<void> {
    for (const id of ids.split(',')) {
      await unlessNotAllowed(() => this.#api.delete(`${path}${pathOf(id)}?${revision}`), notAllowed);
    }
  }
}

function isOurs(one: Subscription, eventType: string, url: string, repository: string): boolean {
  const { publisherInputs, consumerInputs } = one;
  return one.eventType === eventType && consumerInputs?.url === url && publisherInputs?.repository === repository;
}
