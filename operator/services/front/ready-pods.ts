import type { Pod } from '../../../kubernetes/resource-type.ts';

/** Returns whether a pod receives requests. */
export function isReady({ metadata, status }: Pod): boolean {
  if (metadata.deletionTimestamp !== undefined || status?.podIP === undefined) return false;
  return status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
}
