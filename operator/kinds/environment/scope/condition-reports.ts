import {
  findCondition,
  mergeConditions,
  type ConditionReport,
  type ConditionStatus,
} from '../../../../crds/conditions.ts';
import type { EnvironmentStatus } from '../../../../crds/environment.ts';
import { cut } from '../../../shared/one-line.ts';

/** Conditions of an Environment, as shown by `kubectl describe` and the API. */
export type EnvironmentCondition =
  | 'Ready'
  | 'Reconciling'
  | 'Stalled'
  | 'Created'
  | 'Built'
  | 'Available'
  | 'Trusted'
  | 'Seeded'
  | 'Published'
  | 'RequestsValid';

type Conditions = EnvironmentStatus['conditions'];

const maxMessage = 8000;

/** Conditions that one reconcile sets and removes. */
export class ConditionReports {
  readonly #reports = new Map<string, ConditionReport>();
  readonly #dropped = new Set<string>();

  report(type: EnvironmentCondition, status: ConditionStatus, reason: string, message: string): void {
    this.add({ type, status, reason, message });
  }

  add(report: ConditionReport): void {
    this.#dropped.delete(report.type);
    this.#reports.set(report.type, { ...report, message: cut(report.message, maxMessage) });
  }

  /** Removes a condition that does not apply any longer. */
  drop(...types: EnvironmentCondition[]): void {
    for (const type of types) {
      this.#reports.delete(type);
      this.#dropped.add(type);
    }
  }

  /** Returns a refusal that an earlier reconcile recorded and that stands until a new request. */
  earlierRefusal(recorded: Conditions, type: EnvironmentCondition): ConditionReport | undefined {
    const condition = findCondition(recorded, type);
    return condition?.status === 'False' && !this.#dropped.has(type) ? condition : undefined;
  }

  /** Returns the conditions to write, given those already recorded. */
  merge(recorded: Conditions, generation: number, now: Date): NonNullable<Conditions> {
    const kept = (recorded ?? []).filter(({ type }) => !this.#dropped.has(type));
    return mergeConditions(kept, [...this.#reports.values()], generation, now);
  }
}
