import type { DeliveryForm } from '../delivery.ts';
import { bodyId, isBodySigned } from '../signature.ts';

const events = new Set([
  ...['repo:push', 'pullrequest:created', 'pullrequest:updated'],
  ...['pullrequest:fulfilled', 'pullrequest:rejected'],
]);

/**
 * The default interval of polling: a change wrongly taken for a repetition is found by then, and a replay causes no
 * more syncs than polling.
 */
const knownForMs = 5 * 60_000;

/**
 * Deliveries of Bitbucket Cloud (https://support.atlassian.com/bitbucket-cloud/docs/event-payloads/), signed with the
 * HMAC-SHA256 of the body.
 */
export const workspacehostForm: DeliveryForm = {
  isSigned: ({ header, body }, secret) => isBodySigned(body, secret, header('x-hub-signature')),

  read: ({ header, body }) => ({
    // The request's UUID is not signed. Two pushes that move a branch back and forth can have equal bodies; the second
    // one must count.
    ids: [bodyId(body)],
    knownForMs,
    asksForSync: events.has(header('x-event-key') ?? ''),
  }),
};
