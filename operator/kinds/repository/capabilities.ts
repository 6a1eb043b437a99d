import type { Capabilities } from '../../source/hosts/host.ts';

/** Describes what the credentials of a readable repository permit. */
export function readableMessage({ statuses, hooks }: Capabilities): string {
  const read = 'the Git repository can be read';
  return `${read}; commit statuses: ${wordOf(statuses)}; webhooks: ${wordOf(hooks, 'to be entered manually')}`;
}

function wordOf(may: boolean | undefined, otherwise = 'not possible'): string {
  if (may === undefined) return 'the host does not report this';
  return may ? 'possible' : otherwise;
}
