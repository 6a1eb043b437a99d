import type { SourcePosition, Problems } from '../problems.ts';
import { quoted } from '../problems.ts';
import type { Service } from '../schema.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';
import { readBuild } from './build.ts';
import type { FileScope } from './file-scope.ts';
import { readPlatform } from './platform.ts';
import { type Fields, isEmpty, optional, readName } from './read.ts';

/** Reads a service's image or build, and its platform. */
export async function readOrigin(
  fields: Fields,
  at: SourcePosition,
  scope: FileScope,
): Promise<Pick<Service, 'build' | 'image' | 'platform'>> {
  const { problems } = scope;
  const buildEntry = fields.get('build');
  const imageEntry = fields.get('image');
  const own = optional(fields, 'platform', readPlatform, problems);
  const image = optional(fields, 'image', readImage, problems);
  if (buildEntry === undefined || isEmpty(buildEntry.value)) {
    if (imageEntry === undefined) problems.error(at, 'has neither build nor image: add one');
    return { image, ...(own !== undefined && { platform: own }) };
  }
  if (imageEntry !== undefined) {
    problems.warn(imageEntry.at, 'ignored: the service is built, and Coppice names the image');
  }
  const read = await readBuild(buildEntry.value, scope);
  const platform = own ?? read?.platform;
  return { build: read?.build, ...(platform !== undefined && { platform }) };
}

/** Matches an image reference by Distribution's grammar: [host[:port]/]path[:tag][@digest]. */
const imagePattern = new RegExp(
  [
    /^(?:(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*(?::\d+)?\/)?/,
    /[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*)*/,
    /(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/,
  ]
    .map((part) => part.source)
    .join(''),
);

function readImage(node: YamlNode, problems: Problems): string | undefined {
  const text = readName(node, problems);
  if (text === undefined || (text.length <= 512 && imagePattern.test(text))) return text;
  return problems.error(
    node,
    `${quoted(text)} is not an image: write it like redis:7 or registry.example.com/team/app:1.2`,
  );
}
