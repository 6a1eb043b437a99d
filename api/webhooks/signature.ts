import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** Whether two texts are equal, in a time that says nothing about where they differ, nor how long they are. */
export function isSameText(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/**
 * Whether a header holds the body's HMAC-SHA256: `sha256=<hex>` as GitHub and Bitbucket write it, or the hex alone as
 * Gitea's and Forgejo's own headers do. Other algorithms count as none.
 */
export function isBodySigned(body: Buffer, secret: string, given: string | undefined): boolean {
  const expected = createHmac('sha256', secret).update(body).digest('hex');
  return isSameText((given ?? '').replace(/^sha256=/, '').toLowerCase(), expected);
}

/** By what is signed a delivery is known again: an id in a header is the sender's to choose. */
export function bodyId(body: Buffer): string {
  return `body ${createHash('sha256').update(body).digest('base64url')}`;
}
