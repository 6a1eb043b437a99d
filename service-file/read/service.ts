import type { SourcePosition, Problems } from '../problems.ts';
import { type Healthcheck, SERVICE_DEFAULTS, type Service } from '../schema.ts';
import type { YamlEntry } from '../yaml/yaml-node.ts';
import { readProcess } from './command.ts';
import { readContainer } from './container.ts';
import { type LocatedDependency, readDependsOn } from './depends-on.ts';
import { readDeploy, readReplicas, readRestarts } from './deploy.ts';
import { readEnvironment } from './environment.ts';
import { readExtraHosts } from './extra-hosts.ts';
import type { FileScope } from './file-scope.ts';
import { readConfigs, readSecrets } from './grants.ts';
import { readHealthcheck } from './healthcheck.ts';
import { serviceKeys } from './keys/service-keys.ts';
import { readLabels } from './labels.ts';
import { checkTargets } from './mount-target.ts';
import { readMounts, readSharedMemory, readTmpfs } from './mounts.ts';
import { readLinks, readServiceNetworks, type ServiceNetworks } from './networks.ts';
import { readOrigin } from './origin.ts';
import { portNumbers, readExpose, readPorts } from './ports.ts';
import { type Fields, optional, readFields } from './read.ts';
import { readResources } from './resources.ts';
import { readPrivileges } from './privileges.ts';
import { type Extension, readExtension } from './x-coppice.ts';

/** A service of the file, with what is needed to combine it with the others. */
export interface LocatedService {
  /** Name in the file, as in dependencies and links. */
  key: string;
  at: SourcePosition;
  /** Without what depends on other services: dependsOn, aliases, and whether it runs once. */
  service: Service;
  dependsOn: readonly LocatedDependency[];
  aliases: ServiceNetworks['aliases'];
  links: ReturnType<typeof readLinks>;
  /** Whether the service is restarted when it exits, and where the file says so. */
  restarts: boolean | undefined;
  restartAt: SourcePosition;
  /** The container's TCP ports in `ports`, in the order of the file. */
  published: readonly number[];
  extension: Extension;
}

/** Reads one entry of `services`. Values with errors are omitted, because the result is used only without errors. */
export async function readService(
  entry: YamlEntry,
  name: string,
  scope: FileScope,
): Promise<LocatedService | undefined> {
  const { problems } = scope;
  const { key, at } = entry;
  const fields = readFields(entry.value, serviceKeys, problems);
  if (fields === undefined) return undefined;
  const ports = optional(fields, 'ports', readPorts, problems) ?? [];
  const exposed = optional(fields, 'expose', readExpose, problems) ?? [];
  const deploy = readDeploy(fields, problems);
  const { networks, aliases } = readServiceNetworks(fields, scope.networks, problems);
  const extension = optional(fields, 'x-coppice', readExtension, problems) ?? { jobs: [] };
  const origin = await readOrigin(fields, at, scope);
  const service: Service = {
    ...SERVICE_DEFAULTS,
    name,
    ...watched(origin, extension, problems),
    ...readProcess(fields, problems),
    environment: await readEnvironment(fields, scope),
    ports: portNumbers([...ports, ...exposed], 'tcp'),
    udpPorts: portNumbers([...ports, ...exposed], 'udp'),
    ...readHealth(fields, extension, problems),
    mounts: await readAllMounts(fields, origin.build?.context, scope),
    networks,
    extraHosts: optional(fields, 'extra_hosts', readExtraHosts, problems) ?? [],
    ...readPrivileges(fields, scope),
    ...readContainer(fields, problems),
    labels: optional(fields, 'labels', readLabels, problems) ?? {},
    replicas: readReplicas(fields, deploy, problems),
    resources: readResources(fields, deploy, problems),
  };
  return {
    key,
    at,
    service,
    dependsOn: optional(fields, 'depends_on', readDependsOn, problems) ?? [],
    aliases,
    links: readLinks(fields, problems),
    restarts: readRestarts(fields, deploy, problems),
    restartAt: fields.get('restart')?.at ?? fields.get('deploy')?.at ?? at,
    published: ports.filter(({ protocol }) => protocol === 'tcp').map(({ number }) => number),
    extension,
  };
}

type Origin = Pick<Service, 'build' | 'image' | 'platform'>;

function watched({ build, ...origin }: Origin, { watch }: Extension, problems: Problems): Origin {
  if (watch !== undefined && build === undefined) {
    problems.error(watch.at, 'the service is not built, so there is nothing to watch: remove this');
  }
  return { ...origin, ...(build !== undefined && { build: { ...build, watch: watch?.globs ?? [] } }) };
}

/** A request in x-coppice takes precedence over Compose's test, which then applies only to docker compose. */
function readHealth(fields: Fields, extension: Extension, problems: Problems): { healthcheck?: Healthcheck } {
  const own = optional(fields, 'healthcheck', readHealthcheck, problems);
  const healthcheck = extension.healthcheck ?? (own === 'none' ? undefined : own);
  return healthcheck === undefined ? {} : { healthcheck };
}

async function readAllMounts(
  fields: Fields,
  context: string | undefined,
  scope: FileScope,
): Promise<Service['mounts']> {
  const { problems } = scope;
  const mounts = [
    ...(await readMounts(fields, context === '.' ? '' : context, scope)),
    ...readTmpfs(fields, problems),
    ...readSharedMemory(fields, problems),
    ...(await readConfigs(fields, scope)),
    ...(await readSecrets(fields, scope)),
  ];
  return checkTargets(mounts, problems);
}
