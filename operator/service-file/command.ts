import type { Problems } from './problems.ts';
import { isEmpty, readText, readTextList } from './read.ts';
import { splitShellWords } from './shell-words.ts';
import type { YamlNode } from './yaml-node.ts';

/** `command` and `entrypoint`: a list, or a line split into words. Nothing (`command:`) means the image's own. */
export function readCommand(node: YamlNode, problems: Problems): string[] | undefined {
  if (isEmpty(node)) return undefined;
  const words = node.kind === 'list' ? readTextList(node, problems) : readLine(node, problems);
  if (words?.length !== 0) return words;
  return problems.error(node, "an empty command, to undo the image's own, is not supported yet: write the command out");
}

function readLine(node: YamlNode, problems: Problems): string[] | undefined {
  const text = readText(node, problems);
  if (text === undefined) return undefined;
  const split = splitShellWords(text);
  return 'words' in split ? split.words : problems.error(node, split.error);
}
