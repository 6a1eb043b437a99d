import { isDeepStrictEqual } from 'node:util';
import type { EnvironmentStatus } from '../../crds/environment.ts';
import type { RolloutProgress, ServiceProgress, SetUpServices } from '../workloads/progress.ts';
import type { ConditionReports } from './condition-reports.ts';

/** So often, at most, restarts alone are written. */
export const RESTARTS_MS = 60_000;

/** A service as it is to be told: where restarts alone are new, and others were told a moment ago, as it was. */
export function withQuietRestarts(before: ServiceProgress, service: ServiceProgress, now: Date): ServiceProgress {
  const toldAt = Date.parse(before.lastTermination?.finishedAt ?? '');
  const { restarts, lastTermination } = before;
  const quiet = { ...service, restarts, lastTermination };
  const isNews = !isDeepStrictEqual(quiet, { ...before, restarts, lastTermination });
  if (isNews || service.restarts === restarts || Number.isNaN(toldAt) || now.getTime() - toldAt >= RESTARTS_MS) {
    return service;
  }
  return quiet;
}

/** What one reconcile tells of an Environment's services. */
export class ServiceReports {
  readonly #status: EnvironmentStatus;
  readonly #conditions: ConditionReports;
  /** How far the rollout is; undefined where nothing should run. */
  progress: RolloutProgress | undefined;
  /** Until when the services are waited for. */
  givesUpAt: Date | undefined;

  constructor(status: EnvironmentStatus, conditions: ConditionReports) {
    this.#status = status;
    this.#conditions = conditions;
  }

  /** Whether restarts are yet to be told: not each of many is worth a write. */
  rolledOut(progress: RolloutProgress, now: Date): boolean {
    this.progress = progress;
    const services = progress.services.map((service) => {
      const before = this.#status.services?.find(({ name }) => name === service.name);
      return before ? withQuietRestarts(before, service, now) : service;
    });
    const isQuiet = services.some((service, index) => service !== progress.services[index]);
    this.#tell({ ...progress, services });
    if (progress.done) this.#conditions.report('Available', 'True', 'Running', 'every service runs');
    else this.#conditions.report('Available', 'False', 'Waiting', `waiting for ${progress.waitingFor.join('; ')}`);
    return isQuiet;
  }

  /** The services are set up and none of them runs. */
  notRunning(services: SetUpServices): void {
    this.#tell(services);
    this.#conditions.drop('Available');
  }

  #tell({ services, aliases }: SetUpServices): void {
    this.#status.services = services;
    if (Object.keys(aliases).length > 0) this.#status.aliases = aliases;
    else delete this.#status.aliases;
  }
}
