import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../cluster/paths.ts';

/** A fenced code block of a page: its language, the name that may follow it on the fence, and what is in it. */
export interface CodeBlock {
  language: string;
  name: string;
  code: string;
}

const fence = /^```(?<language>\w*)(?: (?<name>\S+))?\n(?<code>.*?)^```$/gms;

export function codeBlocks(markdown: string): CodeBlock[] {
  return [...markdown.matchAll(fence)].map(({ groups = {} }) => ({
    language: groups['language'] ?? '',
    name: groups['name'] ?? '',
    code: groups['code'] ?? '',
  }));
}

/** The code of a page's block of this name. @param page its path in the repository. @throws Error when there is none, or more. */
export function codeOf(page: string, name: string): string {
  const found = codeBlocks(readFileSync(join(repositoryRoot, page), 'utf8')).filter((block) => block.name === name);
  const [block] = found;
  if (!block || found.length > 1) throw new Error(`${page} has ${found.length} code blocks of the name ${name}`);
  return block.code;
}
