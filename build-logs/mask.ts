const MASK = '***';
const SHORTEST = 4;

/**
 * A function that hides secrets in a line. A secret of several lines is hidden line by line, and each also in the form
 * that it has inside of a URL. What is shorter than 4 characters is let through: hiding it would hide half the log.
 */
export function createMask(secrets: readonly string[]): (line: string) => string {
  const needles = [...new Set(secrets.flatMap(forms))].sort((a, b) => b.length - a.length);
  if (needles.length === 0) return (line) => line;
  const anyNeedle = new RegExp(needles.map(escapeRegExp).join('|'));
  return (line) => (anyNeedle.test(line) ? hide(line, needles) : line);
}

function forms(secret: string): string[] {
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  return [secret, ...lines, ...lines.map(urlEncoded)].filter((form) => form.length >= SHORTEST && !form.includes('\n'));
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

function urlEncoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** Hides every occurrence, overlapping ones as one, so that no rest of a secret stays beside another one. */
function hide(line: string, needles: readonly string[]): string {
  const hits: [start: number, end: number][] = [];
  for (const needle of needles) {
    for (let at = line.indexOf(needle); at !== -1; at = line.indexOf(needle, at + 1)) {
      hits.push([at, at + needle.length]);
    }
  }
  hits.sort(([a], [b]) => a - b);
  let shown = '';
  let position = 0;
  for (const [start, end] of hits) {
    if (start >= position) shown += line.slice(position, start) + MASK;
    position = Math.max(position, end);
  }
  return shown + line.slice(position);
}
