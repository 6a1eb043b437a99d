import type { EnvironmentStatus } from '../../crds/environment.ts';
import type { RolloutProgress, SetUpServices } from '../workloads/progress.ts';
import type { ConditionReports } from './condition-reports.ts';

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

  rolledOut(progress: RolloutProgress): void {
    this.progress = progress;
    this.#tell(progress);
    if (progress.done) this.#conditions.report('Available', 'True', 'Running', 'every service runs');
    else this.#conditions.report('Available', 'False', 'Waiting', `waiting for ${progress.waitingFor.join('; ')}`);
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
