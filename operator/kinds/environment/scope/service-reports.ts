import { isDeepStrictEqual } from 'node:util';
import type { EnvironmentStatus } from '../../../../crds/environment.ts';
import type { RolloutProgress, ServiceProgress, SetUpServices } from '../../../services/rollout/progress.ts';
import type { ConditionReports } from './condition-reports.ts';

/** Minimum interval between status writes that only change restart counts. */
export const RESTARTS_MS = 60_000;

/** Returns a service's report: the previous one if only restarts are new and others were written recently. */
export function withQuietRestarts(before: ServiceProgress, service: ServiceProgress, now: Date): ServiceProgress {
  const reportedAt = Date.parse(before.lastTermination?.finishedAt ?? '');
  const { restarts, lastTermination } = before;
  const quiet = { ...service, restarts, lastTermination };
  const isNews = !isDeepStrictEqual(quiet, { ...before, restarts, lastTermination });
  if (
    isNews ||
    service.restarts === restarts ||
    Number.isNaN(reportedAt) ||
    now.getTime() - reportedAt >= RESTARTS_MS
  ) {
    return service;
  }
  return quiet;
}

/** The state of an Environment's services that one reconcile reports. */
export class ServiceReports {
  readonly #status: EnvironmentStatus;
  readonly #conditions: ConditionReports;
  /** Progress of the rollout; undefined if nothing should run. */
  progress: RolloutProgress | undefined;
  /** When to stop waiting for the services. */
  givesUpAt: Date | undefined;

  constructor(status: EnvironmentStatus, conditions: ConditionReports) {
    this.#status = status;
    this.#conditions = conditions;
  }

  /** Returns whether restarts remain to be reported: not every one is worth a write. */
  rolledOut(progress: RolloutProgress, now: Date): boolean {
    this.progress = progress;
    const services = progress.services.map((service) => {
      const before = this.#status.services?.find(({ name }) => name === service.name);
      return before ? withQuietRestarts(before, service, now) : service;
    });
    const isQuiet = services.some((service, index) => service !== progress.services[index]);
    this.#report({ ...progress, services });
    if (progress.done) this.#conditions.report('Available', 'True', 'Running', 'every service is ready');
    else this.#conditions.report('Available', 'False', 'Waiting', `waiting for ${progress.waitingFor.join('; ')}`);
    return isQuiet;
  }

  /** Reports that the services are set up and none runs. */
  notRunning(services: SetUpServices): void {
    this.#report(services);
    this.#conditions.drop('Available');
  }

  #report({ services, aliases }: SetUpServices): void {
    this.#status.services = services;
    if (Object.keys(aliases).length > 0) this.#status.aliases = aliases;
    else delete this.#status.aliases;
  }
}
