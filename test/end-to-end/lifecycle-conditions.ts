import { findCondition, type Condition } from '../../crds/conditions.ts';
import type { Environment } from '../../crds/environment.ts';

/** Returns the condition of this type, as the object reports it. */
export function conditionOf(environment: Environment | undefined, type: string): Condition | undefined {
  return findCondition(environment?.status?.conditions, type);
}

/** Returns whether it has settled in this state, with every request handled. */
export function isSettledAs(end: 'empty' | 'built', environment: Environment | undefined): boolean {
  const { metadata, status } = environment ?? {};
  const asked = Object.entries(metadata?.annotations ?? {}).filter(([name]) => name.includes('/request-'));
  const handled = Object.values<string | undefined>(status?.handledRequests ?? {});
  const { active, buildPending, rebuild } = status?.activation ?? {};
  const isSettled = active === (end === 'built') && buildPending === false && rebuild === undefined;
  return isSettled && status?.state === end && asked.every(([, value]) => handled.includes(value));
}
