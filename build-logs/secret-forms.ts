/** What is shorter is let through: hiding it would hide half the log. */
const SHORTEST = 4;
/** Of a secret of several lines, such as a key, single lines that are shorter are words like any other. */
const SHORTEST_LINE = 8;
/** Of bytes in base64 only those characters that the bytes decide alone; so many of them are no chance. */
const SHORTEST_BASE64 = 8;

/**
 * The forms in which a secret shows up in a line: as it is, line by line, as a part of a URL or of JSON, and in base64,
 * with whatever stands before it there (`user:password`).
 */
export function secretForms(secret: string): string[] {
  const lines = secret
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line.length >= SHORTEST_LINE);
  // In base64 a secret of several lines is one text; where the encoder broke it up, its lines do not help.
  const whole = secret.trim();
  const texts = whole.includes('\n') ? lines : [whole];
  const forms = [...texts, ...texts.flatMap(escapedForms)].filter((form) => form.length >= SHORTEST);
  return [...forms, ...[secret, whole, ...texts].flatMap(base64Forms)];
}

function escapedForms(text: string): string[] {
  const url = encodeURIComponent(text.toWellFormed());
  const strict = url.replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
  const form = strict.replaceAll('~', '%7E').replaceAll('%20', '+');
  const small = (escaped: string) => escaped.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase());
  return [url, strict, form, small(url), small(strict), small(form), JSON.stringify(text).slice(1, -1)];
}

/** Four characters hold three bytes: which ones depends on where among them the secret begins. */
function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret.toWellFormed());
  const encoded = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replaceAll('=', '');
    const first = Math.ceil((before * 8) / 6);
    const end = Math.floor(((before + bytes.length) * 8) / 6);
    return text.slice(first, end);
  });
  const inUrls = encoded.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  return [...encoded, ...inUrls].filter((form) => form.length >= SHORTEST_BASE64);
}
