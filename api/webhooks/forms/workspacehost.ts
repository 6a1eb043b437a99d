import type { DeliveryForm } from '../delivery.ts';
import { bodyId, isBodySigned } from '../signature.ts';

const events = new Set([
  ...['repo:push', 'pullrequest:created', 'pullrequest:updated'],
  ...['pullrequest:fulfilled', 'pullrequest:rejected'],
]);

/** As often as refs are looked at by default: one that is taken for a repetition is found by then, and a replay asks for no more. */
const knownForMs = 5 * 60_000;

/** Bitbucket Cloud's form (https://support.atlassian.com/bitbucket-cloud/docs/event-payloads/): HMAC-SHA256 of the body. */
export const workspacehostForm: DeliveryForm = {
  isSigned: ({ header, body }, secret) => isBodySigned(body, secret, header('x-hub-signature')),

  read: ({ header, body }) => ({
    // Its UUID is not signed. Of two pushes that move a branch to and fro, the bodies are equal: the second must count.
    ids: [bodyId(body)],
    knownForMs,
    asksForSync: events.has(header('x-event-key') ?? ''),
  }),
};
