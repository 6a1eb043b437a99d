import { secretForms } from './secret-forms.ts';

const MASK = '***';

/**
 * A function that hides secrets in a line, in every form of secret-forms.ts. What a line without secrets costs does not
 * depend on how many there are: one expression looks for all.
 */
export function createMask(secrets: readonly string[]): (line: string) => string {
  const needles = [...new Set(secrets.flatMap(secretForms))].sort((a, b) => b.length - a.length);
  if (needles.length === 0) return (line) => line;
  const anyNeedle = new RegExp(needles.map(escapeRegExp).join('|'));
  return (line) => (anyNeedle.test(line) ? hide(line, needles) : line);
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
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
