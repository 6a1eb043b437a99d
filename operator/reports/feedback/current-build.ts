import type { Environment } from '../../../crds/environment.ts';
import type { BuildStatus } from '../../../crds/environment-build.ts';
import { hasNamespace } from '../../kinds/environment/scope/contents.ts';
import { formatId, idOf } from '../../../crds/ids.ts';

/** Returns the last build, if it belongs to the current contents; undefined while contents are deleted. */
export function currentBuild({ metadata, status = {} }: Environment): BuildStatus | undefined {
  const { build, activation } = status;
  if (!build || metadata.deletionTimestamp !== undefined || !hasNamespace(status)) return undefined;
  if (activation && (!activation.active || Date.parse(build.startedAt) < Date.parse(activation.since)))
    return undefined;
  return build;
}

/** Returns the commit of a fork that waits for an approval; undefined if none does. */
export function waitingCommit({ metadata, status }: Environment): string | undefined {
  return metadata.deletionTimestamp === undefined ? status?.approval?.waitingCommit : undefined;
}

/** Returns the environment's page of the panel with the log of this build, or of the last one if `number` is absent. */
export function logsUrlOf(environment: Environment, apiUrl: URL, number?: number): string {
  const path = `/environments/${formatId(idOf(environment))}`;
  return new URL(number === undefined ? path : `${path}?build=${number}`, apiUrl).href;
}
