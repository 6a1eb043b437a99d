import type { Problems } from '../problems.ts';
import { quoted } from '../problems.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';
import { parseDuration } from './duration.ts';
import { readText } from './read.ts';

const day = 86_400;

/** Reads a duration in seconds. Kubernetes uses whole seconds, so fractions are rounded up with a warning. */
export function readSeconds(
  node: YamlNode,
  { min = 0, max = day }: { min?: number; max?: number },
  problems: Problems,
): number | undefined {
  const text = readText(node, problems);
  if (text === undefined) return undefined;
  const exact = parseDuration(text);
  if (exact === undefined)
    return problems.error(node, `${quoted(text)} is not a duration: write one such as 10s or 1m30s`);
  const seconds = Math.ceil(exact);
  if (seconds < min || seconds > max) {
    return problems.error(node, `must be from ${min}s to ${max / 3600}h, not ${quoted(text)}`);
  }
  if (seconds !== exact) problems.warn(node, `${quoted(text)} is rounded up to ${seconds}s`);
  return seconds;
}
