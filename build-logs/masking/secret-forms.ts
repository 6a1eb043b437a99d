import { canonicalBytes } from './canonical-text.ts';
import { MIN_FRAGMENT } from './fragments.ts';

/** A shorter text is let through: hiding it would hide half the log. */
const MIN = 4;
/** Of a secret of several lines, such as a key, single lines that are shorter are words like any other. */
const MIN_LINE = 8;
/** Only the base64 characters that the secret fully determines; so many of them do not occur by chance. */
const MIN_BASE64 = 8;
/** Characters of one secret, and of all together, that are looked for; more would take too much memory. */
export const MAX_SECRET = 64 * 1024;
export const MAX_SECRETS = 512 * 1024;

export interface SecretForms {
  /** Hidden where they stand as a whole. */
  patterns: Uint8Array[];
  /** Hidden where a part of them stands that is long enough. */
  texts: Uint8Array[];
  /** Of punctuation alone, which the canonical form leaves out. */
  literals: string[];
}

/** Returns what to look for in the canonical form of a text: the secrets, their lines, and both in base64. */
export function secretForms(secrets: readonly string[]): SecretForms {
  const forms: SecretForms = { patterns: [], texts: [], literals: [] };
  let length = 0;
  // Short ones first: what is beyond the limit is not looked for, and most often a file.
  for (const secret of [...new Set(secrets)].sort((one, other) => one.length - other.length)) {
    const kept = secret.slice(0, Math.min(MAX_SECRET, MAX_SECRETS - length));
    length += kept.length;
    addForms(forms, kept);
  }
  return forms;
}

function addForms(forms: SecretForms, secret: string): void {
  const whole = secret.trim();
  if (whole.length < MIN) return;
  const lines = whole
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line.length >= MIN_LINE);
  const texts = whole.includes('\n') ? [whole, ...lines] : [whole];
  for (const text of texts) addPatterns(forms, text);
  for (const text of new Set([secret, ...texts])) {
    for (const encoded of base64Forms(text)) {
      if (encoded.length < MIN_FRAGMENT) forms.patterns.push(encoded);
      // Each line's is a part of the whole one's, but for one byte or two at its ends.
      else if (text === secret || text === whole) forms.texts.push(encoded);
    }
  }
}

/**
 * As it is, and with what looks like an escape in it decoded. JSON is added because there are escapes for what a line
 * does not have.
 */
function addPatterns({ patterns, literals }: SecretForms, text: string): void {
  const forms = [text, JSON.stringify(text)].flatMap((one) => [canonicalBytes(one, false), canonicalBytes(one, true)]);
  const distinct = new Map(forms.map((bytes) => [Buffer.from(bytes).toString('latin1'), bytes]));
  for (const bytes of distinct.values()) if (bytes.length >= MIN) patterns.push(bytes);
  if ((forms[0]?.length ?? 0) < MIN) literals.push(text);
}

/** Four characters hold three bytes: which ones depends on where among them the secret starts. */
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
    .filter((form) => form.length >= MIN_BASE64);
}
