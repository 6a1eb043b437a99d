export interface Link {
  /** As it stands, relative to its page; empty for the page itself. */
  path: string;
  anchor: string;
  line: number;
}

const link = /\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]*))?\)/g;
const isolated = /^ *```.*?^ *```/gms;

/** A page's text with its code blanked out, line for line. */
function withoutCode(markdown: string): string {
  return markdown
    .replace(isolated, (block) => block.replace(/[^\n]/g, ''))
    .replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]()]/g, ' '));
}

/** Links to files of the repository, and within the page. */
export function linksOf(markdown: string): Link[] {
  return withoutCode(markdown)
    .split('\n')
    .flatMap((text, index) =>
      [...text.matchAll(link)].map(([, path = '', anchor = '']) => ({ path, anchor, line: index + 1 })),
    );
}

/** What a page's headings can be linked by, as GitHub makes it of their words. */
export function anchorsOf(markdown: string): Set<string> {
  const headings = markdown.replace(isolated, '').matchAll(/^#{1,6} +(.*)$/gm);
  const seen = new Map<string, number>();
  return new Set(
    [...headings].map(([, words = '']) => {
      const anchor = words
        .trim()
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, '')
        .replaceAll(' ', '-');
      const before = seen.get(anchor) ?? 0;
      seen.set(anchor, before + 1);
      return before === 0 ? anchor : `${anchor}-${before}`;
    }),
  );
}
