import { findCondition } from '../../../../crds/conditions.ts';
import type { Environment } from '../../../../crds/environment.ts';
import { suspended } from '../../../shared/conditions.ts';
import type { StatusWriter } from '../../../shared/status-writer.ts';
import { overridesReport } from '../revision/overrides-report.ts';
import { trustReport } from '../revision/trust.ts';
import type { EnvironmentScope } from '../scope/scope.ts';
import { finalStatus, summaryInput } from './final-status.ts';
import { summarize } from './summary.ts';

/** Writes an Environment's state, and the conditions that summarize what the phases contributed. */
export class EnvironmentStatuses {
  readonly #writer: StatusWriter<Environment>;

  constructor(writer: StatusWriter<Environment>) {
    this.#writer = writer;
  }

  /** Writes that reconciliation is suspended. */
  async writeSuspended(scope: EnvironmentScope): Promise<void> {
    const wasReady = findCondition(scope.before.conditions, 'Ready')?.status === 'True';
    const message = 'spec.suspend is set: the environment is not reconciled until it is unset';
    await this.#writer.write(scope.environment, finalStatus(scope, suspended(wasReady, message)));
  }

  /** Writes the status if it has changed. `error`: the error that ended the reconcile. */
  async write(scope: EnvironmentScope, error?: unknown): Promise<void> {
    const { gitRef, overrides } = scope.environment.spec;
    const facts = [trustReport(gitRef, scope, scope), overridesReport(overrides, scope)];
    const summary = [...facts.filter((fact) => fact !== undefined), ...summarize(summaryInput(scope, error))];
    await this.#writer.write(scope.environment, finalStatus(scope, summary));
  }
}
