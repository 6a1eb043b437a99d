import { posix } from 'node:path';
import { buildFilesFault } from '../build-files.ts';
import { quoted } from '../problems.ts';
import type { SourcePosition, Problems } from '../problems.ts';
import { BUILD_DEFAULTS, type Build } from '../schema.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';
import type { FileScope } from './file-scope.ts';
import { readBuildSecrets } from './grants.ts';
import { buildKeys } from './keys/build-keys.ts';
import { readPlatform } from './platform.ts';
import { optional, readFields, readList, readName } from './read.ts';
import { readRepositoryPath } from '../repository-path.ts';
import { readVariables, toRecord } from './variables.ts';

export interface LocatedBuild {
  build: Build;
  /** From `platforms`, if it names one. */
  platform: string | undefined;
}

/**
 * Reads `build`: the context alone, or a map. Both paths must be inside the repository; symbolic links are checked
 * elsewhere.
 */
export async function readBuild(node: YamlNode, scope: FileScope): Promise<LocatedBuild | undefined> {
  const { problems } = scope;
  if (node.kind === 'scalar') {
    const context = readContext(node, problems);
    if (context === undefined) return undefined;
    const build = { ...BUILD_DEFAULTS, context };
    checkBuildFiles(build, { context: node, dockerfile: node }, scope);
    return { build, platform: undefined };
  }
  const fields = readFields(node, buildKeys, problems);
  if (fields === undefined) return undefined;
  const contextNode = fields.get('context')?.value;
  const context = contextNode === undefined ? plain(node.folder) : readContext(contextNode, problems);
  const target = optional(fields, 'target', readTarget, problems);
  const args = optional(fields, 'args', (value) => readVariables(value, 'build', scope), problems) ?? new Map();
  const platform = optional(fields, 'platforms', readPlatforms, problems);
  const secrets = await readBuildSecrets(fields, scope);
  if (context === undefined) return undefined;
  const dockerfile =
    optional(fields, 'dockerfile', (value) => readDockerfile(value, context, problems), problems) ?? 'Dockerfile';
  const at = { context: contextNode ?? node, dockerfile: fields.get('dockerfile')?.value ?? contextNode ?? node };
  checkBuildFiles({ context, dockerfile }, at, scope);
  return {
    build: {
      ...BUILD_DEFAULTS,
      context,
      dockerfile,
      ...(target !== undefined && { target }),
      args: toRecord(args),
      secrets,
    },
    platform,
  };
}

/** Reports missing files of the build if all of the repository's files are known. */
export function checkBuildFiles(
  build: Pick<Build, 'context' | 'dockerfile'>,
  at: { context: SourcePosition; dockerfile: SourcePosition },
  { files, problems }: Pick<FileScope, 'files' | 'problems'>,
): void {
  const fault = files.isPartial ? undefined : buildFilesFault(build, files);
  if (fault) problems.error(at[fault.key], fault.key === 'context' ? `the context ${fault.message}` : fault.message);
}

function readContext(node: YamlNode, problems: Problems): string | undefined {
  const text = readName(node, problems);
  if (text === undefined) return undefined;
  if (/^[a-z][a-z0-9+.-]*:\/\/|^git@|^github\.com\//i.test(text)) {
    return problems.error(node, 'a context from a URL is not supported: name a folder of this repository');
  }
  const path = readRepositoryPath(text, node.folder, node, problems);
  return path === undefined ? undefined : plain(path);
}

/** Returns the path of a context, with `.` for the root. */
function plain(path: string): string {
  return path === '' ? '.' : path;
}

function readDockerfile(node: YamlNode, context: string, problems: Problems): string | undefined {
  const text = readName(node, problems);
  const path = text === undefined ? undefined : readRepositoryPath(text, context, node, problems);
  if (path === undefined) return undefined;
  const dockerfile = posix.relative(context, path);
  return /(^|\/)(\.\.)?$/.test(dockerfile) ? problems.error(node, 'is a folder: name the file') : dockerfile;
}

function readTarget(node: YamlNode, problems: Problems): string | undefined {
  const text = readName(node, problems);
  if (text === undefined || /^[A-Za-z0-9][\w.-]{0,127}$/.test(text)) return text;
  return problems.error(node, `${quoted(text)} is not a name of a Dockerfile's stage: use letters, digits, _, - and .`);
}

/** Reads the platform. Several platforms are only useful for images that are published, which these are not. */
function readPlatforms(node: YamlNode, problems: Problems): string | undefined {
  const items = readList(node, problems);
  const platforms = items?.flatMap((item) => readPlatform(item, problems) ?? []);
  if (platforms === undefined || platforms.length <= 1) return platforms?.[0];
  problems.warn(node, 'ignored: an image is built for the one platform that it runs on; name it in platform');
  return undefined;
}
