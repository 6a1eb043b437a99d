import { createHmac, randomUUID } from 'node:crypto';
import type { RequestOptions } from './local-http.ts';

/** Returns a signed webhook call in GitHub's format, which Gitea and Forgejo share. */
export function githubDelivery(
  secret: string,
  event: string,
  content: object,
  id: string = randomUUID(),
): RequestOptions {
  const body = JSON.stringify(content);
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-github-event': event,
      'x-github-delivery': id,
      'x-hub-signature-256': `sha256=${signature}`,
    },
    body,
  };
}
