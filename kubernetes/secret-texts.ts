import type { Secret } from './resource-type.ts';

/** Returns the `data` of a Secret with these texts. */
export function encodeTexts(texts: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]));
}

/** Returns the text of a Secret's key; undefined if the Secret or the key does not exist. */
export function secretText(secret: Pick<Secret, 'data'> | undefined, key: string): string | undefined {
  const encoded = secret?.data?.[key];
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8');
}
