/** Compose's template grammar: `$$`, `$NAME`, `${NAME}`, `${NAME:-…}`. Any other `$` stands for itself. */
const TEMPLATE = /\$(?:(?<escaped>\$)|\{(?<braced>[A-Za-z_]\w*)?|(?<named>[A-Za-z_]\w*))/g;

export type Interpolated = { text: string } | { unsupported: string };

/**
 * `$$` becomes `$`. A variable is not filled in yet: `unsupported` describes the first one. A `$NAME` is not repeated
 * there, since it may be part of a password whose `$` was not doubled.
 */
export function interpolate(text: string): Interpolated {
  for (const { groups } of text.matchAll(TEMPLATE)) {
    if (groups?.['escaped'] !== undefined) continue;
    return { unsupported: groups?.['braced'] === undefined ? 'a variable' : `the variable \${${groups['braced']}}` };
  }
  return { text: text.replaceAll('$$', () => '$') };
}
