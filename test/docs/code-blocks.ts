import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY_ROOT } from '../support/paths.ts';

/** A code block of a page: its language, the name that may follow the language, and its content. */
export interface CodeBlock {
  language: string;
  name: string;
  code: string;
  /** Why no test runs it, from the comment `<!-- not run: REASON -->` above it; otherwise empty. */
  notRun: string;
}

const block =
  /(?:^ *<!-- not run: (?<notRun>.+?) -->\s*)?^ *```(?<language>\w*)(?: (?<name>\S+))?\n(?<code>.*?)^ *```$/gms;

export function codeBlocks(markdown: string): CodeBlock[] {
  return [...markdown.matchAll(block)].map(({ groups = {} }) => ({
    language: groups['language'] ?? '',
    name: groups['name'] ?? '',
    code: groups['code'] ?? '',
    notRun: groups['notRun'] ?? '',
  }));
}

/**
 * Returns the content of a page's block of this name.
 * @param page its path in the repository
 * @throws Error if there is none, or more than one
 */
export function codeOf(page: string, name: string): string {
  const found = codeBlocks(readFileSync(join(REPOSITORY_ROOT, page), 'utf8')).filter((one) => one.name === name);
  const [first] = found;
  if (!first || found.length > 1) throw new Error(`${page} has ${found.length} code blocks of the name ${name}`);
  return first.code;
}
