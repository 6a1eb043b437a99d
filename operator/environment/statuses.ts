import { findCondition } from '../../crds/conditions.ts';
import type { Environment } from '../../crds/environment.ts';
import { suspended } from '../conditions.ts';
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

  /** Writes that nothing is done while it is suspended. */
  async writeSuspended(scope: EnvironmentScope): Promise<void> {
    this.#observeState(scope);
    const wasReady = findCondition(scope.before.conditions, 'Ready')?.status === 'True';
    const message = 'spec.suspend is set: nothing is done for the environment until it is taken back';
    for (const report of suspended(wasReady, message)) scope.conditions.add(report);
    await this.#writer.write(scope.environment, scope.finalStatus());
  }

  /** Writes what has changed. `error`: what the reconcile ended with. */
  async write(scope: EnvironmentScope, error?: unknown): Promise<void> {
    this.#observeState(scope);
    const trust = trustReport(scope.environment.spec.gitRef, scope, scope.status);
    if (trust) scope.conditions.add(trust);
    for (const report of summarize(scope.summaryInput(error))) scope.conditions.add(report);
    await this.#writer.write(scope.environment, scope.finalStatus());
  }

  #observeState(scope: EnvironmentScope): void {
    const building = scope.runningBuild !== undefined;
    const deployed = scope.status.deployed !== undefined;
    scope.status.state = deriveState({ present: scope.isPresent, setUp: scope.isSetUp, building, deployed });
  }
}
