import type { Condition } from '../../crds/conditions.ts';
import type { KubernetesObject } from '../../kubernetes/resource-type.ts';
import { conditionThat, problemOf, type Health, type Problem } from './health-view.ts';

interface Reporting extends KubernetesObject {
  status?: { conditions?: readonly Condition[] | undefined } | undefined;
}

/** Returns the health of a Group or Repository, from its conditions Ready, Reconciling and Stalled. */
export function objectHealth({ metadata, status }: Reporting): { health: Health; problem?: Problem } {
  if (metadata.deletionTimestamp !== undefined) return { health: 'progressing' };
  const stalled = conditionThat(status?.conditions, 'Stalled', 'True');
  if (stalled) return { health: 'failed', problem: problemOf(stalled) };
  if (conditionThat(status?.conditions, 'Ready', 'True')) return { health: 'healthy' };
  const reconciling = conditionThat(status?.conditions, 'Reconciling', 'True');
  return { health: 'progressing', ...(reconciling && { problem: problemOf(reconciling) }) };
}
