import { createHash, createHmac } from 'node:crypto';
import { isSameText } from '../../process/same-text.ts';

/**
 * Returns whether a header contains the body's HMAC-SHA256: `sha256=<hex>` as GitHub and Bitbucket write it, or only
 * the hex digits as in Gitea's and Forgejo's headers. Other algorithms are refused.
 */
export function isBodySigned(body: Buffer, secret: string, given: string | undefined): boolean {
  const expected = createHmac('sha256', secret).update(body).digest('hex');
  return isSameText((given ?? '').replace(/^sha256=/, '').toLowerCase(), expected);
}

/** Returns an ID derived from the signed body: the sender can choose an ID in a header freely. */
export function bodyId(body: Buffer): string {
  return `body ${createHash('sha256').update(body).digest('base64url')}`;
}
