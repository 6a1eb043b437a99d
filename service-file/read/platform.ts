import type { Problems } from '../problems.ts';
import { quoted } from '../problems.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';
import { readName } from './read.ts';

/** Reads a platform such as `linux/amd64` or `linux/arm/v7`. */
export function readPlatform(node: YamlNode, problems: Problems): string | undefined {
  const text = readName(node, problems);
  if (text === undefined || /^linux\/[a-z0-9]{1,16}(\/[a-z0-9]{1,8})?$/.test(text)) return text;
  return problems.error(node, `${quoted(text)} is not a platform that can run here: write it like linux/amd64`);
}
