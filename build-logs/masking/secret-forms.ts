import { stripControls } from '../controls.ts';
import { canonicalBytes } from './canonical-text.ts';
import { MIN_FRAGMENT } from './fragments.ts';

/** Minimum length of a masked text: masking shorter ones would hide half the log. */
const minLength = 4;
/** Minimum length of single lines of a secret with several lines, such as a key; shorter ones are common words. */
const minLine = 8;
/** Minimum number of base64 characters that the secret fully determines; as many do not occur by chance. */
const minBase64 = 8;
/** Maximum number of characters of one secret, and of all together; more would use too much memory. */
export const MAX_SECRET = 64 * 1024;
export const MAX_SECRETS = 512 * 1024;

export interface SecretForms {
  /** Masked where they occur completely. */
  patterns: Uint8Array[];
  /** Masked where a sufficiently long part of them occurs. */
  texts: Uint8Array[];
  /** Secrets of punctuation, which the canonical form removes, as they are and as they are seen. */
  literals: string[];
}

/** Returns what to search for in canonical texts: the secrets, their lines, and both in base64. */
export function secretForms(secrets: readonly string[]): SecretForms {
  const forms: SecretForms = { patterns: [], texts: [], literals: [] };
  let length = 0;
  // Shortest first: secrets beyond the limit, usually files, are not searched for.
  for (const secret of [...new Set(secrets)].sort((one, other) => one.length - other.length)) {
    const kept = secret.slice(0, Math.min(MAX_SECRET, MAX_SECRETS - length));
    length += kept.length;
    addForms(forms, kept);
  }
  return forms;
}

function addForms(forms: SecretForms, secret: string): void {
  const whole = secret.trim();
  if (whole.length < minLength) return;
  const lines = whole
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line.length >= minLine);
  const texts = whole.includes('\n') ? [whole, ...lines] : [whole];
  for (const text of texts) addPatterns(forms, text);
  for (const text of new Set([secret, ...texts])) {
    for (const encoded of base64Forms(text)) {
      if (encoded.length < MIN_FRAGMENT) forms.patterns.push(...partsOf(encoded));
      // The base64 of each line is a part of that of the whole secret, except for a byte or two at its ends.
      else if (text === secret || text === whole) forms.texts.push(encoded);
    }
  }
}

/**
 * Adds a text as it is, and with its escapes decoded. Its JSON form is added because escapes can encode characters that
 * a line cannot contain.
 */
function addPatterns({ patterns, literals }: SecretForms, text: string): void {
  const forms = [text, JSON.stringify(text)].flatMap((one) => [canonicalBytes(one, false), canonicalBytes(one, true)]);
  const distinct = new Map(forms.map((bytes) => [Buffer.from(bytes).toString('latin1'), bytes]));
  for (const bytes of distinct.values()) if (bytes.length >= minLength) patterns.push(bytes);
  if ((forms[0]?.length ?? 0) >= minLength) return;
  literals.push(...new Set([text, stripControls(text)].filter((literal) => literal.length >= minLength)));
}

/** Returns the parts of a short base64 text that are found on their own, as where a line ends within the text. */
function partsOf(encoded: Uint8Array): Uint8Array[] {
  return Array.from({ length: encoded.length - minBase64 + 1 }, (_, start) =>
    encoded.subarray(start, start + minBase64),
  );
}

/**
 * Four base64 characters encode three bytes, so a secret has three forms, depending on its position in the encoded
 * text.
 */
function base64Forms(secret: string): Uint8Array[] {
  const bytes = Buffer.from(secret.toWellFormed());
  return [0, 1, 2]
    .map((before) => {
      const text = Buffer.concat([Buffer.alloc(before), bytes])
        .toString('base64')
        .replaceAll('=', '');
      const first = Math.ceil((before * 8) / 6);
      const end = Math.floor(((before + bytes.length) * 8) / 6);
      return canonicalBytes(text.slice(first, end), false);
    })
    .filter((form) => form.length >= minBase64);
}
