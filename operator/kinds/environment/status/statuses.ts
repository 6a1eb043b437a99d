import { findCondition } from '../../../../crds/conditions.ts';
import type { Environment, EnvironmentStatus } from '../../../../crds/environment.ts';
import { suspended } from '../../../shared/conditions.ts';
import type { StatusWriter } from '../../../shared/status-writer.ts';
import type { EnvironmentScope } from '../scope/scope.ts';
import { buildOfContents, deriveState } from '../scope/state.ts';
import { summarize, type SummaryInput } from './summary.ts';
import { trustReport } from '../revision/trust.ts';

/** Writes an Environment's state, and the conditions that summarize what the phases reported. */
export class EnvironmentStatuses {
  readonly #writer: StatusWriter<Environment>;

  constructor(writer: StatusWriter<Environment>) {
    this.#writer = writer;
  }

  /** Writes that reconciliation is suspended. */
  async writeSuspended(scope: EnvironmentScope): Promise<void> {
    this.#observeState(scope);
    const wasReady = findCondition(scope.before.conditions, 'Ready')?.status === 'True';
    const message = 'spec.suspend is set: the environment is not reconciled until it is unset';
    for (const report of suspended(wasReady, message)) scope.conditions.add(report);
    await this.#writer.write(scope.environment, finalStatus(scope));
  }

  /** Writes the status if it has changed. `error`: the error that ended the reconcile. */
  async write(scope: EnvironmentScope, error?: unknown): Promise<void> {
    this.#observeState(scope);
    const trust = trustReport(scope.environment.spec.gitRef, scope, scope.status);
    if (trust) scope.conditions.add(trust);
    for (const report of summarize(summaryInput(scope, error))) scope.conditions.add(report);
    await this.#writer.write(scope.environment, finalStatus(scope));
  }

  #observeState(scope: EnvironmentScope): void {
    const building = scope.runningBuild !== undefined;
    const deployed = scope.status.deployed !== undefined;
    scope.status.state = deriveState({ present: scope.isPresent, setUp: scope.isSetUp, building, deployed });
  }
}

/** Returns the input of an Environment's summary. `error`: the error that ended the reconcile. */
export function summaryInput(scope: EnvironmentScope, error: unknown): SummaryInput {
  const { progress, givesUpAt } = scope.services;
  return {
    state: scope.status.state,
    present: scope.isPresent,
    wanted: scope.isActive,
    buildPending: scope.isBuildPending,
    build: buildOfContents(scope.status),
    available: progress?.done,
    waitingFor: progress?.waitingFor ?? [],
    givesUpAt,
    wasReady: findCondition(scope.before.conditions, 'Ready')?.status === 'True',
    error,
  };
}

/** Returns the status to write. */
export function finalStatus({ environment, status, conditions, now }: EnvironmentScope): EnvironmentStatus {
  const generation = environment.metadata.generation ?? 0;
  const merged = conditions.merge(environment.status?.conditions, generation, now);
  return { ...status, observedGeneration: generation, conditions: merged };
}
