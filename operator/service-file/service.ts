import { readBuild } from './build.ts';
import { readCommand } from './command.ts';
import { type PlacedDependency, readDependsOn } from './depends-on.ts';
import { readHealthcheck } from './healthcheck.ts';
import { serviceKeys } from './keys.ts';
import { readExpose, readPorts } from './ports.ts';
import type { Place, Problems } from './problems.ts';
import { quoted } from './problems.ts';
import { type NamedRoute, readPublic } from './public-routes.ts';
import { type Fields, optional, readFields, readName } from './read.ts';
import type { Healthcheck, Service } from './schema.ts';
import { readVariables } from './variables.ts';
import type { YamlEntry, YamlNode } from './yaml-node.ts';

/** A service of the file, with what is needed to check it against the others. */
export interface PlacedService {
  at: Place;
  service: Service;
  dependsOn: readonly PlacedDependency[];
  healthcheck: Healthcheck | 'none' | undefined;
  /** The container's ports of `ports`, in the order of the file. */
  published: readonly number[];
  named: readonly NamedRoute[] | undefined;
}

/** One entry of `services`. What has an error is left out of the result: it is used only when there is none. */
export function readService({ key: name, at, value }: YamlEntry, problems: Problems): PlacedService | undefined {
  checkName(name, at, problems);
  const fields = readFields(value, serviceKeys, problems);
  if (fields === undefined) return undefined;
  checkRestart(fields, problems);
  const published = optional(fields, 'ports', readPorts, problems) ?? [];
  const exposed = optional(fields, 'expose', readExpose, problems) ?? [];
  const dependsOn = optional(fields, 'depends_on', readDependsOn, problems) ?? [];
  const entrypoint = optional(fields, 'entrypoint', readCommand, problems);
  const command = optional(fields, 'command', readCommand, problems);
  const healthcheck = fields.has('healthcheck') ? optional(fields, 'healthcheck', readHealthcheck, problems) : 'none';
  const service: Service = {
    name,
    ...readOrigin(fields, at, problems),
    ...(entrypoint !== undefined && { entrypoint }),
    ...(command !== undefined && { command }),
    environment: optional(fields, 'environment', readVariables, problems) ?? {},
    ports: [...new Set([...published, ...exposed])].sort((a, b) => a - b),
    dependsOn: dependsOn.map((dependency) => ({ service: dependency.service, condition: dependency.condition })),
    ...(healthcheck !== undefined && healthcheck !== 'none' && { healthcheck }),
  };
  return { at, service, dependsOn, healthcheck, published, named: optional(fields, 'x-coppice', readPublic, problems) };
}

/** `build-<service>` is a container's name, of 63 characters at the most. */
const MAX_NAME_LENGTH = 57;

/** A service's name becomes a Kubernetes Service and a host name: RFC 1035, which Compose does not ask for. */
function checkName(name: string, at: Place, problems: Problems): void {
  if (/^[a-z]([a-z0-9-]{0,55}[a-z0-9])?$/.test(name)) return;
  const better = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^[^a-z]+|-+$/g, '')
    .slice(0, MAX_NAME_LENGTH);
  const hint = better === '' ? '' : `, such as ${quoted(better)}`;
  problems.error(
    at,
    `${quoted(name)} cannot be a host name: use lower-case letters, digits and -, a letter first, at most ${MAX_NAME_LENGTH}${hint}`,
  );
}

/** Where the service's image comes from. */
function readOrigin(fields: Fields, at: Place, problems: Problems): Pick<Service, 'build' | 'image'> {
  const build = optional(fields, 'build', readBuild, problems);
  const image = optional(fields, 'image', readImage, problems);
  const imageEntry = fields.get('image');
  if (!fields.has('build')) {
    if (imageEntry === undefined) problems.error(at, 'has neither build nor image: add one');
    return { image };
  }
  if (imageEntry !== undefined)
    problems.warn(imageEntry.at, 'ignored: the service is built, and Coppice names the image');
  return { build };
}

/** An image reference by Distribution's grammar: [host[:port]/]path[:tag][@digest]. */
const IMAGE = new RegExp(
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
  if (text === undefined || (text.length <= 512 && IMAGE.test(text))) return text;
  return problems.error(
    node,
    `${quoted(text)} is no image: write it such as redis:7 or registry.example.com/team/app:1.2`,
  );
}

function checkRestart(fields: Fields, problems: Problems): void {
  const entry = fields.get('restart');
  const policy = entry === undefined ? undefined : readName(entry.value, problems);
  if (entry === undefined || policy === undefined) return;
  if (/^(always|unless-stopped|on-failure(:\d+)?)$/.test(policy)) {
    problems.warn(entry.at, 'ignored: a service is always restarted');
  } else if (policy === 'no' || policy === 'false') {
    problems.error(entry.at, 'a service that is not restarted is not supported yet: remove it');
  } else {
    problems.error(entry.value, `${quoted(policy)} is no restart policy`);
  }
}
