import { z } from 'zod';
import { commandedCommit } from '../../../crds/approval-command.ts';
import { pullRequestEventFactsSchema, type PullRequestEvent } from '../../../crds/pull-request-events.ts';
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
/** Changes of what rules for environments decide by: the labels, the target branch, whether it is a draft. */
const changeActions = new Set([
  ...['labeled', 'unlabeled', 'label_updated', 'label_cleared'],
  ...['edited', 'ready_for_review', 'converted_to_draft'],
]);

const refSchema = z.object({ ref: z.unknown().optional() }).nullish().catch(undefined);

const pullRequestSchema = z.object({
  action: z.string(),
  number: z.int().min(1).max(999_999_999),
  pull_request: z
    .object({
      updated_at: z.iso.datetime({ offset: true }).optional(),
      state: z.unknown().optional(),
      draft: z.unknown().optional(),
      labels: z
        .array(z.object({ name: z.unknown() }))
        .nullish()
        .catch(undefined),
      base: refSchema,
      head: refSchema,
    })
    .optional(),
});

const idSchema = z.int().min(1);
const commentSchema = z.object({
  action: z.string(),
  issue: z.object({ number: z.int().min(1).max(999_999_999), pull_request: z.unknown().optional() }),
  comment: z.object({ id: idSchema, body: z.string(), user: z.object({ id: idSchema }).nullish() }),
});

/** Deliveries of GitHub, Gitea, Forgejo and Gogs: the body's HMAC in X-Hub-Signature-256, the event in a header. */
export const ownerhostForm: DeliveryForm = {
  isSigned: (raw, secret) => isBodySigned(raw.body, secret, firstHeader(raw, signatureHeaders)),

  read(raw) {
    // The body contains the time of the change, so its hash identifies the delivery with one key in Redis.
    const ids = [bodyId(raw.body)];
    const event = firstHeader(raw, eventHeaders) ?? '';
    if (event === 'pull_request') return { ids, ...readPullRequest(raw) };
    if (event === 'issue_comment') return { ids, asksForSync: false, ...readComment(raw) };
    return { ids, asksForSync: refEvents.has(event) };
  },
};

function readPullRequest(raw: RawDelivery): Omit<Delivery, 'ids'> {
  const { action, number, pull_request: details } = parseJsonBody(pullRequestSchema, payloadOf(raw));
  const isChange = changeActions.has(action) && details?.state === 'open';
  if (action !== 'closed' && !openActions.has(action) && !isChange) return { asksForSync: false };
  const isOpen = action !== 'closed';
  const pullRequest = { number, isOpen, ...(isOpen && factsOf(details)) };
  const at = details?.updated_at;
  return { asksForSync: true, pullRequest, ...(at !== undefined && { pullRequestAt: Date.parse(at) }) };
}

/** Comments on issues, changes and deletions approve nothing. */
function readComment(raw: RawDelivery): Pick<Delivery, 'approval'> {
  const { action, issue, comment } = parseJsonBody(commentSchema, payloadOf(raw));
  const commit = commandedCommit(comment.body);
  // Gitea sends null for an issue.
  const isOnPullRequest = (issue.pull_request ?? undefined) !== undefined;
  if (action !== 'created' || !isOnPullRequest || commit === undefined || !comment.user) return {};
  return {
    approval: { pullRequest: issue.number, comment: `${comment.id}`, author: `${comment.user.id}`, commit },
  };
}

function factsOf(details: z.infer<typeof pullRequestSchema>['pull_request']): Pick<PullRequestEvent, 'facts'> {
  const facts = pullRequestEventFactsSchema.parse({
    labels: details?.labels?.map(({ name }) => name),
    targetBranch: details?.base?.ref,
    sourceBranch: details?.head?.ref,
    isDraft: details?.draft,
  });
  return JSON.stringify(facts) === '{}' ? {} : { facts };
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
