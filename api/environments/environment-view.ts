import { conditionViews, type ConditionView } from '../http/condition-view.ts';
import type { Environment, EnvironmentState } from '../../crds/environment.ts';
import type { GitRef } from '../../crds/git-ref.ts';
import type { Group } from '../../crds/group.ts';
import { formatId, type ResourceId } from '../../crds/ids.ts';
import { environmentHost } from '../../crds/names.ts';
import { stateOf, ttlOf } from './contents.ts';

/** Where environments are served, as a browser reaches them. */
export interface WebAddress {
  scheme: 'http' | 'https';
  domain: string;
  /** Absent: the scheme's own. */
  port?: number | undefined;
}

/** Contract section 2, environment; `name`, `conditions` and `build` are ours. */
export interface EnvironmentView {
  id: string;
  rid: string;
  name: string;
  gitRef: GitRef;
  status: EnvironmentState;
  weburl: string;
  aliases: Record<string, string>;
  /** Seconds that the last finished build took; 0 when none has. */
  buildTime: number;
  /** These three in Unix seconds; 0 when there was no such build. */
  createdAt: number;
  builtAt: number;
  buildAt: number;
  /** Seconds; omitted when zero. */
  ttl?: number;
  size: number;
  services: { id: string; name: string; ready: boolean }[];
  conditions: ConditionView[];
  build?: { number: number; result: string; message?: string };
}

/** Contract section 4: what spawn answers. */
export interface SpawnedView {
  id: string;
  name: string;
  status: EnvironmentState;
  weburl: string;
}

export function environmentDisplayName({ metadata, spec }: Environment): string {
  return spec.displayName ?? metadata.name;
}

export function environmentSize({ status }: Environment): number {
  return status?.deployed?.sizeBytes ?? 0;
}

export function environmentView(group: Group, environment: Environment, address: WebAddress): EnvironmentView {
  const { metadata, spec, status } = environment;
  const id = idOf(group, environment);
  const rid = formatId({ group: group.metadata.name, name: spec.repository });
  const finished = status?.build?.finishedAt === undefined ? status?.deployed : status.build;
  const builtAt = unixSeconds(finished?.finishedAt);
  const ttl = ttlOf(environment);
  const { build } = status ?? {};
  return {
    id: formatId(id),
    rid,
    name: environmentDisplayName(environment),
    gitRef: spec.gitRef,
    status: stateOf(environment),
    weburl: webUrl(id, environment, address),
    aliases: {},
    buildTime: finished ? builtAt - unixSeconds(finished.startedAt) : 0,
    createdAt: unixSeconds(metadata.creationTimestamp),
    builtAt,
    buildAt: builtAt,
    ...(ttl > 0 && { ttl }),
    size: environmentSize(environment),
    services: (status?.services ?? []).map(({ name, ready }) => ({ id: `${formatId(id)}.${name}`, name, ready })),
    conditions: conditionViews(status?.conditions),
    ...(build && {
      build: {
        number: build.number,
        result: build.result,
        ...(build.message !== undefined && { message: build.message }),
      },
    }),
  };
}

export function spawnedView(group: Group, environment: Environment, address: WebAddress): SpawnedView {
  const id = idOf(group, environment);
  return {
    id: formatId(id),
    name: environmentDisplayName(environment),
    status: stateOf(environment),
    weburl: webUrl(id, environment, address),
  };
}

function idOf(group: Group, environment: Environment): ResourceId {
  return { group: group.metadata.name, name: environment.metadata.name };
}

/** As the operator says, and, before it has looked, as it will say: the host is a function of the id. */
function webUrl(id: ResourceId, { status }: Environment, { scheme, domain, port }: WebAddress): string {
  return status?.webURL ?? `${scheme}://${environmentHost(id, domain)}${port === undefined ? '' : `:${port}`}/`;
}

function unixSeconds(time: string | undefined): number {
  return time === undefined ? 0 : Math.floor(Date.parse(time) / 1000);
}
