import type { Environment } from '../../crds/environment.ts';
import type { StatusWriter } from '../status-writer.ts';
import type { EnvironmentScope } from './scope.ts';
import { deriveState } from './state.ts';
import { summarize } from './summary.ts';
import { trustReport } from './trust.ts';

/** Tells how far an Environment is: its state, and the conditions that sum up what the steps have reported. */
export class EnvironmentStatuses {
  readonly #writer: StatusWriter<Environment>;

  constructor(writer: StatusWriter<Environment>) {
    this.#writer = writer;
  }

  /** Writes what has changed. `error`: what the reconcile ended with. */
  async write(scope: EnvironmentScope, error?: unknown): Promise<void> {
    const building = scope.runningBuild !== undefined;
    const deployed = scope.status.deployed !== undefined;
    scope.status.state = deriveState({ present: scope.isPresent, setUp: scope.isSetUp, building, deployed });
    const trust = trustReport(scope.environment.spec.gitRef, scope, scope.status);
    if (trust) scope.conditions.add(trust);
    for (const report of summarize(scope.summaryInput(error))) scope.conditions.add(report);
    await this.#writer.write(scope.environment, scope.finalStatus());
  }
}
