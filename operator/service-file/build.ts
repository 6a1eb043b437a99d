import { posix } from 'node:path';
import { buildKeys } from './keys.ts';
import type { Problems } from './problems.ts';
import { quoted } from './problems.ts';
import { optional, readFields, readName } from './read.ts';
import type { Build } from './schema.ts';
import { readVariables } from './variables.ts';
import type { YamlNode } from './yaml-node.ts';

/** `build`: the context alone, or a map. Both paths stay inside the repository; symbolic links are checked elsewhere. */
export function readBuild(node: YamlNode, problems: Problems): Build | undefined {
  if (node.kind === 'scalar') {
    const context = readContext(node, problems);
    return context === undefined ? undefined : { context, dockerfile: 'Dockerfile', args: {} };
  }
  const fields = readFields(node, buildKeys, problems);
  if (fields === undefined) return undefined;
  const contextNode = fields.get('context')?.value;
  const context = contextNode === undefined ? '.' : readContext(contextNode, problems);
  const target = optional(fields, 'target', readTarget, problems);
  const args = optional(fields, 'args', readVariables, problems) ?? {};
  if (context === undefined) return undefined;
  const dockerfileNode = fields.get('dockerfile')?.value;
  const dockerfile = dockerfileNode === undefined ? 'Dockerfile' : readDockerfile(dockerfileNode, context, problems);
  if (dockerfile === undefined) return undefined;
  return { context, dockerfile, ...(target !== undefined && { target }), args };
}

function readContext(node: YamlNode, problems: Problems): string | undefined {
  const text = readName(node, problems);
  if (text === undefined) return undefined;
  if (/^[a-z][a-z0-9+.-]*:\/\/|^git@|^github\.com\//i.test(text)) {
    return problems.error(node, 'a context from a URL is not supported: name a folder of this repository');
  }
  return relativePath(text, '.', node, problems);
}

function readDockerfile(node: YamlNode, context: string, problems: Problems): string | undefined {
  const text = readName(node, problems);
  const path = text === undefined ? undefined : relativePath(text, context, node, problems);
  if (path === undefined) return undefined;
  const dockerfile = posix.relative(context, path);
  return /(^|\/)(\.\.)?$/.test(dockerfile) ? problems.error(node, 'is a folder: name the file') : dockerfile;
}

/** `path`, taken from the folder `base`, as a path from the repository's root: without `./`, `..` and a last slash. */
function relativePath(path: string, base: string, node: YamlNode, problems: Problems): string | undefined {
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\\\u0000-\u001f\u007f]/.test(path)) {
    return problems.error(
      node,
      `the path ${quoted(path)} has a backslash or a control character: use / and plain names`,
    );
  }
  if (path.startsWith('/') || path.startsWith('~')) {
    return problems.error(node, `the path ${quoted(path)} is absolute: it must be relative and inside the repository`);
  }
  const joined = posix.join(base, path).replace(/\/$/, '');
  if (joined === '..' || joined.startsWith('../')) {
    return problems.error(node, `the path ${quoted(path)} leads out of the repository`);
  }
  return joined;
}

function readTarget(node: YamlNode, problems: Problems): string | undefined {
  const text = readName(node, problems);
  if (text === undefined || /^[A-Za-z0-9][\w.-]{0,127}$/.test(text)) return text;
  return problems.error(node, `${quoted(text)} is no name of a Dockerfile's stage`);
}
