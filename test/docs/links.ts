export interface Link {
  /** As written, relative to its page; empty for the page itself. */
  path: string;
  anchor: string;
  line: number;
}

const link = /\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]*))?\)/g;
const codeBlock = /^ *```.*?^ *```/gms;

/** Returns a page's text with its code replaced by blank lines. */
function withoutCode(markdown: string): string {
  return markdown
    .replace(codeBlock, (block) => block.replace(/[^\n]/g, ''))
    .replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]()]/g, ' '));
}

/** Returns links to files of the repository, and within the page. */
export function linksOf(markdown: string): Link[] {
  return withoutCode(markdown)
    .split('\n')
    .flatMap((text, index) =>
      [...text.matchAll(link)].map(([, path = '', anchor = '']) => ({ path, anchor, line: index + 1 })),
    );
}

/** Returns the anchors of a page's headings, as GitHub derives them. */
export function anchorsOf(markdown: string): Set<string> {
  const headings = markdown.replace(codeBlock, '').matchAll(/^#{1,6} +(.*)$/gm);
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
