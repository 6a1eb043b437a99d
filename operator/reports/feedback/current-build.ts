import type { BuildStatus, Environment } from '../../../crds/environment.ts';
import { hasNamespace } from '../../kinds/environment/scope/state.ts';
import { formatId, groupOfNamespace, type ResourceId } from '../../../crds/ids.ts';

/** The last build, where it is of the contents that are there; of those that go, none. */
export function currentBuild({ metadata, status = {} }: Environment): BuildStatus | undefined {
  const { build, activation } = status;
  if (!build || metadata.deletionTimestamp !== undefined || !hasNamespace(status)) return undefined;
  if (activation && (!activation.active || Date.parse(build.startedAt) < Date.parse(activation.since)))
    return undefined;
  return build;
}

export function idOf({ metadata }: Environment): ResourceId {
  return { group: groupOfNamespace(metadata.namespace ?? '') ?? '', name: metadata.name };
}

/** Where the log of its build of this number is read; of the last one where none is named. */
export function logsUrlOf(environment: Environment, apiUrl: URL, number?: number): string {
  const path = `/api/environment/${formatId(idOf(environment))}/build/logs`;
  return new URL(number === undefined ? path : `${path}?build=${number}`, apiUrl).href;
}
