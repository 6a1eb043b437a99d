import { z } from 'zod';
import { conditionViews, conditionViewSchema } from '../http/condition-view.ts';
import { ENVIRONMENT_STATES, type Environment } from '../../crds/environment.ts';
import { GIT_REF_TYPES } from '../../crds/git-ref.ts';
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

export const gitRefViewSchema = z
  .object({
    name: z.string().meta({ description: 'Short, without refs/heads/ or refs/tags/; the number of a pull request.' }),
    type: z.enum(GIT_REF_TYPES),
  })
  .meta({ id: 'GitRef' });

const unixSeconds = (what: string) => z.int().meta({ description: `${what}, in Unix seconds; 0 when there is none.` });
const id = z.string().meta({ description: 'The id of the environment: `acme.shop-main`.' });
const status = z.enum(ENVIRONMENT_STATES);
const weburl = z.string().meta({ description: 'Where the environment is reachable.' });
const builtAt = unixSeconds('When the last build finished');

/** Contract section 2, environment. */
export const environmentViewSchema = z
  .object({
    id,
    rid: z.string().meta({ description: 'The id of its repository.' }),
    name: z.string().meta({ description: 'Ours: for people.' }),
    gitRef: gitRefViewSchema,
    status,
    weburl,
    aliases: z.record(z.string(), z.string()).meta({ description: 'From alias to address.' }),
    buildTime: z.int().meta({ description: 'Seconds that the last finished build took; 0 when none has.' }),
    createdAt: unixSeconds('When the environment was created'),
    builtAt,
    buildAt: builtAt,
    ttl: z
      .int()
      .positive()
      .optional()
      .meta({ description: 'Seconds to live, from when it was set; omitted when zero.' }),
    size: z.int().meta({ description: 'In bytes.' }),
    services: z.array(
      z.object({ id: z.string(), name: z.string(), ready: z.boolean().meta({ description: 'Ours.' }) }),
    ),
    conditions: z.array(conditionViewSchema).meta({ description: 'Ours: what failed, and why.' }),
    build: z
      .object({ number: z.int(), result: z.string(), message: z.string().optional() })
      .optional()
      .meta({ description: 'Ours: the build that runs, or the last one.' }),
  })
  .meta({ id: 'Environment' });
export type EnvironmentView = z.infer<typeof environmentViewSchema>;

/** Contract section 4: what spawn answers. */
export const spawnedViewSchema = z.object({ id, name: z.string(), status, weburl }).meta({ id: 'SpawnedEnvironment' });
export type SpawnedView = z.infer<typeof spawnedViewSchema>;

export function environmentDisplayName({ metadata, spec }: Environment): string {
  return spec.displayName ?? metadata.name;
}

/** Bytes: of the layers of its images, each counted once, and of what its volumes held after the last build. */
export function environmentSize({ status }: Environment): number {
  if (!status?.deployed) return 0;
  return (status.deployed.sizeBytes ?? 0) + (status.volumes?.usedBytes ?? 0);
}

export function environmentView(group: Group, environment: Environment, address: WebAddress): EnvironmentView {
  const { metadata, spec, status } = environment;
  const id = idOf(group, environment);
  const rid = formatId({ group: group.metadata.name, name: spec.repository });
  const finished = lastFinished(status);
  const builtAt = secondsOf(finished?.finishedAt);
  const ttl = ttlOf(environment);
  const { build } = status ?? {};
  return {
    id: formatId(id),
    rid,
    name: environmentDisplayName(environment),
    gitRef: spec.gitRef,
    status: stateOf(environment),
    weburl: webUrl(id, environment, address),
    aliases: status?.aliases ?? {},
    buildTime: finished ? durationOf(finished) : 0,
    createdAt: secondsOf(metadata.creationTimestamp),
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

/** While another build runs it is the one before. */
function lastFinished(status: Environment['status']): BuildTimes | undefined {
  const { build, deployed } = status ?? {};
  return [build, build?.previous, deployed].find((one): one is BuildTimes => one?.finishedAt !== undefined);
}

interface BuildTimes {
  startedAt: string;
  finishedAt: string;
}

/** In whole seconds, the nearest. */
function durationOf({ startedAt, finishedAt }: BuildTimes): number {
  return Math.max(0, Math.round((Date.parse(finishedAt) - Date.parse(startedAt)) / 1000));
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

/** In Unix seconds. */
function secondsOf(time: string | undefined): number {
  return time === undefined ? 0 : Math.floor(Date.parse(time) / 1000);
}
