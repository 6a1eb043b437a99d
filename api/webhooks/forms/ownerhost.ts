import { z } from 'zod';
import type { Delivery, DeliveryForm, RawDelivery } from '../delivery.ts';
import { bodyId, isBodySigned } from '../signature.ts';
import { parseJsonBody } from './json-body.ts';

/** https://docs.github.com/en/webhooks/webhook-events-and-payloads; Gitea, Forgejo and Gogs send the same besides their own. */
const signatureHeaders = ['x-hub-signature-256', 'x-forgejo-signature', 'x-gitea-signature', 'x-gogs-signature'];
const eventHeaders = ['x-github-event', 'x-forgejo-event', 'x-gitea-event', 'x-gogs-event'];

const refEvents = new Set(['push', 'create', 'delete']);
/** `synchronize` is GitHub's word, `synchronized` Gitea's: there are new commits. */
const openActions = new Set(['opened', 'reopened', 'synchronize', 'synchronized']);

const pullRequestSchema = z.object({
  action: z.string(),
  number: z.int().min(1).max(999_999_999),
  pull_request: z.object({ updated_at: z.iso.datetime({ offset: true }).optional() }).optional(),
});

/** GitHub's form, which Gitea, Forgejo and Gogs use too: the body's HMAC in X-Hub-Signature-256, the event in a header. */
export const ownerhostForm: DeliveryForm = {
  isSigned: (raw, secret) => isBodySigned(raw.body, secret, firstHeader(raw, signatureHeaders)),

  read(raw) {
    // It holds the time of the change. One key is enough in Redis.
    const ids = [bodyId(raw.body)];
    const event = firstHeader(raw, eventHeaders) ?? '';
    if (event === 'pull_request') return { ids, ...readPullRequest(raw) };
    return { ids, asksForSync: refEvents.has(event) };
  },
};

function readPullRequest(raw: RawDelivery): Omit<Delivery, 'ids'> {
  const { action, number, pull_request: details } = parseJsonBody(pullRequestSchema, payloadOf(raw));
  if (action !== 'closed' && !openActions.has(action)) return { asksForSync: false };
  const pullRequest = { number, isOpen: action !== 'closed' };
  const at = details?.updated_at;
  return { asksForSync: true, pullRequest, ...(at !== undefined && { pullRequestAt: Date.parse(at) }) };
}

/** A hook's content type may be a form with the JSON as its field `payload`. */
function payloadOf({ header, body }: RawDelivery): string {
  const text = body.toString('utf8');
  if (!/^application\/x-www-form-urlencoded\b/i.test(header('content-type') ?? '')) return text;
  return new URLSearchParams(text).get('payload') ?? '';
}

function firstHeader({ header }: RawDelivery, names: readonly string[]): string | undefined {
  return names.map(header).find((value) => value !== undefined);
}
