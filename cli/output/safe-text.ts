/**
 * Characters that a terminal interprets or that change the order of others: control, bidirectional and separator
 * characters. Tab and line feed are handled by the callers.
 */
const unsafe = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\p{Zl}\p{Zp}]/gu;

/** Complete escape sequences of terminals: CSI, OSC and other strings, two-character escapes. */
const sequences =
  // oxlint-disable-next-line no-control-regex -- these must not reach a terminal
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]/gu;

/** Returns one line of text without characters that a terminal interprets. */
export function visible(text: string): string {
  return text
    .replace(sequences, '')
    .replaceAll('\t', '        ')
    .replace(unsafe, (character) => (character === '\n' ? character : ''));
}

/** Returns equivalent JSON text without characters that a terminal interprets. */
export function visibleJson(json: string): string {
  return json.replace(unsafe, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Returns a value whose texts and keys contain no invisible characters. */
export function visibleValue(value: unknown): unknown {
  if (typeof value === 'string') return visible(value);
  if (Array.isArray(value)) return value.map(visibleValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [visible(key), visibleValue(inner)]));
}
