import type { EnvironmentStatus } from '../../crds/environment.ts';

function versionsOf(status: EnvironmentStatus | undefined): string[] {
  const named = [status?.version, status?.deployed?.version, runningVersion(status)];
  return [...new Set(named.filter((id) => id !== undefined))];
}

function runningVersion(status: EnvironmentStatus | undefined): string | undefined {
  return status?.build?.result === 'running' ? status.build.version : undefined;
}

/** The versions that the status named and names no more, and those that it names now. */
export function retiredVersions(
  before: EnvironmentStatus | undefined,
  after: EnvironmentStatus,
): { retired: string[]; kept: string[] } {
  const kept = versionsOf(after);
  return { retired: versionsOf(before).filter((id) => !kept.includes(id)), kept };
}
