import type { Secret } from './resource-type.ts';

/** The `data` of a Secret that holds these texts. */
export function encodeTexts(texts: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]));
}

/** The text under a key of a Secret; undefined where Secret or key are not there. */
export function secretText(secret: Pick<Secret, 'data'> | undefined, key: string): string | undefined {
  const encoded = secret?.data?.[key];
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8');
}
