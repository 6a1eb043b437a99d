import { stripControls } from '../controls.ts';
import { canonicalBytes, exactBytes } from './canonical-text.ts';
import { MIN_FRAGMENT } from './fragments.ts';
import { SHORT_WINDOW } from './short-fragments.ts';

/** Minimum length of a masked text: masking shorter ones would hide half the log. */
const minLength = 4;
/** Minimum length of single lines of a secret with several lines, such as a key; shorter ones are common words. */
const minLine = 8;
/** Minimum number of base64 characters that the secret fully determines; as many do not occur by chance. */
const minBase64 = SHORT_WINDOW;
/** Maximum size in bytes of a text whose base64 has fewer than MIN_FRAGMENT characters in some of its forms. */
const maxShort = 17;
/** Maximum number of characters of one secret, and of all together; more would use too much memory. */
export const MAX_SECRET = 64 * 1024;
export const MAX_SECRETS = 512 * 1024;

/** Sets of bytes are strings with a character per byte, so that no form is stored twice. */
export interface SecretForms {
  /** Masked where they occur completely. */
  patterns: Set<string>;
  /** Secrets of punctuation, which the canonical form removes, as they are and as they are seen. */
  literals: Set<string>;
  /** Masked where SHORT_WINDOW bytes of them occur, as where a line ends within the text. */
  shortTexts: Set<string>;
  /** Masked where a sufficiently long part of them occurs. */
  texts: Uint8Array[];
}

/**
 * Returns what to search for in canonical texts: the secrets, their lines, and both in base64. Yields after each of
 * them.
 */
export function* secretForms(secrets: readonly string[]): Generator<void, SecretForms> {
  const forms: SecretForms = { patterns: new Set(), literals: new Set(), shortTexts: new Set(), texts: [] };
  const lines = new Set<string>();
  let length = 0;
  // Shortest first: secrets beyond the limit, usually files, are not searched for.
  for (const secret of [...new Set(secrets)].sort((one, other) => one.length - other.length)) {
    const kept = secret.slice(0, Math.min(MAX_SECRET, MAX_SECRETS - length));
    length += kept.length;
    yield* addForms(forms, kept, lines);
  }
  for (const line of lines) {
    yield;
    addPatterns(forms, line);
    // The base64 of a longer line is a part of that of the whole secret, except for a byte or two at its ends.
    if (line.length <= maxShort) addBase64(forms, line, false);
  }
  return forms;
}

/** Adds the forms of a whole secret, and its lines to `lines`. */
function* addForms(forms: SecretForms, secret: string, lines: Set<string>): Generator<void> {
  const whole = secret.trim();
  if (whole.length < minLength) return;
  addPatterns(forms, whole);
  yield;
  for (const text of new Set([secret, whole])) {
    addBase64(forms, text, true);
    yield;
  }
  if (!whole.includes('\n')) return;
  for (const part of whole.split(/\r?\n/)) {
    const line = part.trim();
    if (line.length >= minLine) lines.add(line);
  }
}

/**
 * Adds a text as it is, and with its escapes decoded. Its JSON form is added because escapes can encode characters that
 * a line cannot contain.
 */
function addPatterns({ patterns, literals }: SecretForms, text: string): void {
  const json = JSON.stringify(text);
  // Without escapes it has only quotes more, which the canonical form removes.
  const texts = json.length === text.length + 2 ? [text] : [text, json];
  const forms = texts.flatMap((one) => [canonicalBytes(one, false), canonicalBytes(one, true)]);
  for (const bytes of forms) if (bytes.length >= minLength) patterns.add(characterPerByte(bytes));
  if ((forms[0]?.length ?? 0) >= minLength) return;
  for (const literal of [text, stripControls(text)]) {
    if (literal.length >= minLength) literals.add(characterPerByte(exactBytes(literal)));
  }
}

function addBase64({ shortTexts, texts }: SecretForms, text: string, isWhole: boolean): void {
  for (const encoded of base64Forms(text)) {
    if (encoded.length < MIN_FRAGMENT) shortTexts.add(characterPerByte(encoded));
    else if (isWhole) texts.push(encoded);
  }
}

function characterPerByte(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
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
