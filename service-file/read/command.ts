import type { Problems } from '../problems.ts';
import type { Service } from '../schema.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';
import { type Fields, optional, readText, readTextList } from './read.ts';
import { splitShellWords } from './shell-words.ts';

/**
 * Reads a service's command and entrypoint. An absent value (`command:`) means that of the image; an empty one (`[]`,
 * `''`) removes that of the image. Kubernetes cannot express the latter, so the command then replaces the entrypoint,
 * which starts the same process.
 */
export function readProcess(fields: Fields, problems: Problems): Pick<Service, 'entrypoint' | 'command'> {
  const entrypoint = optional(fields, 'entrypoint', readCommand, problems);
  const command = optional(fields, 'command', readCommand, problems);
  const given = { ...(notEmpty(entrypoint) && { entrypoint }), ...(notEmpty(command) && { command }) };
  if (entrypoint?.length === 0) {
    if (notEmpty(command)) return { entrypoint: command };
    report(fields, 'entrypoint', "it removes the image's entrypoint and command: write the command here");
  } else if (command?.length === 0 && entrypoint === undefined) {
    report(fields, 'command', "to remove only the image's command, write the entrypoint here");
  }
  return given;

  function report(entries: Fields, key: string, message: string): void {
    const entry = entries.get(key);
    if (entry !== undefined) problems.error(entry.value, message);
  }
}

function notEmpty(words: string[] | undefined): words is string[] {
  return words !== undefined && words.length > 0;
}

/** Reads a list, or a line split into words. */
export function readCommand(node: YamlNode, problems: Problems): string[] | undefined {
  if (node.kind === 'list') {
    const words = readTextList(node, problems);
    // As in Docker, [""] is empty too.
    return words?.length === 1 && words[0] === '' ? [] : words;
  }
  const text = readText(node, problems);
  if (text === undefined) return undefined;
  const split = splitShellWords(text);
  return 'words' in split ? split.words : problems.error(node, split.error);
}
