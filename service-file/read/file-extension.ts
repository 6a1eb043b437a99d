import type { Problems } from '../problems.ts';
import { quoted } from '../problems.ts';
import type { ServiceFile } from '../schema.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';
import { coppiceFileKeys } from './keys/x-coppice-keys.ts';
import { emptyAsMap, optional, readFields, readName } from './read.ts';
import { readRepositories } from './repositories.ts';
import { readTests } from './tests.ts';

/**
 * Reads the file's top-level `x-coppice`: the reusable environment that it publishes, the one that seeds it, the
 * repositories that it includes, and its tests.
 */
export function readFileExtension(
  node: YamlNode,
  problems: Problems,
): Pick<ServiceFile, 'reusable' | 'from' | 'repositories' | 'tests'> | undefined {
  const fields = readFields(emptyAsMap(node), coppiceFileKeys, problems);
  if (fields === undefined) return undefined;
  const reusable = optional(fields, 'reusable', readLabel, problems);
  const from = optional(fields, 'from', readLabel, problems);
  const repositories = optional(fields, 'repositories', readRepositories, problems) ?? [];
  const tests = optional(fields, 'tests', readTests, problems) ?? [];
  return {
    ...(reusable !== undefined && { reusable }),
    ...(from !== undefined && { from }),
    ...(repositories.length > 0 && { repositories }),
    ...(tests.length > 0 && { tests }),
  };
}

/** Reads a label, with the same pattern as in crds/reusable-environment.ts. */
function readLabel(node: YamlNode, problems: Problems): string | undefined {
  const text = readName(node, problems);
  if (text === undefined || /^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$/.test(text)) return text;
  return problems.error(node, `${quoted(text)} is not a label: use at most 40 lower-case letters, digits and -`);
}
