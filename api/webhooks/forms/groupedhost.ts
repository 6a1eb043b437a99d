import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { commandedCommit } from '../../../crds/approval-command.ts';
import { isSameText } from '../../../process/same-text.ts';
import type { Delivery, DeliveryForm, RawDelivery } from '../delivery.ts';
import { parseJsonBody } from './json-body.ts';

/** Maximum difference between a signed time and ours, as in Standard Webhooks. */
const toleranceMs = 5 * 60_000;
const signingTokenPrefix = 'whsec_';

const mergeRequestActions = new Set(['open', 'close', 'reopen', 'merge', 'update']);
const mergeRequestSchema = z.object({ object_attributes: z.object({ action: z.string().optional() }) });

const idSchema = z.int().min(1);
const noteSchema = z.object({
  object_attributes: z.object({
    id: idSchema,
    note: z.string(),
    noteable_type: z.string(),
    author_id: idSchema,
    action: z.string().optional(),
  }),
  merge_request: z.object({ iid: z.int().min(1).max(999_999_999) }).optional(),
});

/**
 * Deliveries of GitLab (https://docs.gitlab.com/user/project/integrations/webhooks/). They contain the secret as
 * X-Gitlab-Token or, if it was entered as the signing token, the HMAC of ID, time and body of Standard Webhooks.
 */
export const groupedhostForm: DeliveryForm = {
  isSigned(raw, secret, now) {
    const hasToken = isSameText(raw.header('x-gitlab-token') ?? '', secret);
    return isStandardSigned(raw, secret, now) || hasToken;
  },

  read(raw) {
    const id = raw.header('webhook-id') ?? raw.header('idempotency-key') ?? raw.header('x-gitlab-event-uuid');
    const ids = id === undefined ? [] : [`id ${id}`];
    if (raw.header('x-gitlab-event') === 'Note Hook') return { ids, asksForSync: false, ...readNote(raw) };
    return { ids, asksForSync: asksForSync(raw) };
  },
};

function asksForSync(raw: RawDelivery): boolean {
  const event = raw.header('x-gitlab-event');
  if (event === 'Push Hook' || event === 'Tag Push Hook') return true;
  if (event !== 'Merge Request Hook') return false;
  const { object_attributes: attributes } = parseJsonBody(mergeRequestSchema, raw.body.toString('utf8'));
  return attributes.action !== undefined && mergeRequestActions.has(attributes.action);
}

/** Notes on anything but merge requests, and changed ones, approve nothing. */
function readNote(raw: RawDelivery): Pick<Delivery, 'approval'> {
  const { object_attributes: note, merge_request: mergeRequest } = parseJsonBody(noteSchema, raw.body.toString('utf8'));
  const commit = commandedCommit(note.note);
  const isNew = note.action === undefined || note.action === 'create';
  if (!isNew || note.noteable_type !== 'MergeRequest' || !mergeRequest || commit === undefined) return {};
  return {
    approval: { pullRequest: mergeRequest.iid, comment: `${note.id}`, author: `${note.author_id}`, commit },
  };
}

/**
 * Verifies a signature of Standard Webhooks (https://github.com/standard-webhooks/standard-webhooks):
 * `webhook-signature: v1,<base64> v1,<base64>`.
 */
function isStandardSigned({ header, body }: RawDelivery, secret: string, now: number): boolean {
  const id = header('webhook-id') ?? '';
  const timestamp = header('webhook-timestamp') ?? '';
  const isTimely = /^\d{1,12}$/.test(timestamp) && Math.abs(now - Number(timestamp) * 1000) <= toleranceMs;
  const expected = createHmac('sha256', signingKey(secret)).update(`${id}.${timestamp}.`).update(body).digest('base64');
  const given = (header('webhook-signature') ?? '').split(' ').slice(0, 8);
  const isSigned = given.map((one) => isSameText(one, `v1,${expected}`)).includes(true);
  return id !== '' && isTimely && isSigned;
}

function signingKey(secret: string): Buffer {
  if (!secret.startsWith(signingTokenPrefix)) return Buffer.from(secret);
  return Buffer.from(secret.slice(signingTokenPrefix.length), 'base64');
}
