import { z } from 'zod';
import type { Delivery, DeliveryForm, RawDelivery } from '../delivery.ts';
import { bodyId, isBodySigned } from '../signature.ts';
import { parseJsonBody } from './json-body.ts';

/**
 * Headers of https://docs.github.com/en/webhooks/webhook-events-and-payloads; Gitea, Forgejo and Gogs send these and
 * their own.
 */
const signatureHeaders = ['x-hub-signature-256', 'x-forgejo-signature', 'x-gitea-signature', 'x-gogs-signature'];
const eventHeaders = ['x-github-event', 'x-forgejo-event', 'x-gitea-event', 'x-gogs-event'];

const refEvents = new Set(['push', 'create', 'delete']);
/** GitHub sends `synchronize` for new commits, Gitea `synchronized`. */
const openActions = new Set(['opened', 'reopened', 'synchronize', 'synchronized']);

const pullRequestSchema = z.object({
  action: z.string(),
  number: z.int().min(1).max(999_999_999),
  pull_request: z.object({ updated_at: z.iso.datetime({ offset: true }).optional() }).optional(),
});

/** Deliveries of GitHub, Gitea, Forgejo and Gogs: the body's HMAC in X-Hub-Signature-256, the event in a header. */
export const ownerhostForm: DeliveryForm = {
  isSigned: (raw, secret) => isBodySigned(raw.body, secret, firstHeader(raw, signatureHeaders)),

  read(raw) {
    // The body contains the time of the change, so its hash identifies the delivery with one key in Redis.
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

/** Returns the JSON text. A hook's content type can be a form with the JSON in its field `payload`. */
function payloadOf({ header, body }: RawDelivery): string {
  const text = body.toString('utf8');
  if (!/^application\/x-www-form-urlencoded\b/i.test(header('content-type') ?? '')) return text;
  return new URLSearchParams(text).get('payload') ?? '';
}

function firstHeader({ header }: RawDelivery, names: readonly string[]): string | undefined {
  return names.map(header).find((value) => value !== undefined);
}
