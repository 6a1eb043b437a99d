import { findCondition, mergeConditions, type ConditionReport, type ConditionStatus } from '../../crds/conditions.ts';
import type { EnvironmentStatus } from '../../crds/environment.ts';
import { cut } from '../one-line.ts';

/** The conditions of an Environment: what `kubectl describe` and the API tell of it. */
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

const longestMessage = 8000;

/** What one reconcile tells of an Environment's conditions, and takes back. */
export class ConditionReports {
  readonly #reports = new Map<string, ConditionReport>();
  readonly #dropped = new Set<string>();

  report(type: EnvironmentCondition, status: ConditionStatus, reason: string, message: string): void {
    this.add({ type, status, reason, message });
  }

  add(report: ConditionReport): void {
    this.#dropped.delete(report.type);
    this.#reports.set(report.type, { ...report, message: cut(report.message, longestMessage) });
  }

  /** Takes a condition away: it says nothing about what is there now. */
  drop(...types: EnvironmentCondition[]): void {
    for (const type of types) {
      this.#reports.delete(type);
      this.#dropped.add(type);
    }
  }

  /** A refusal that an earlier reconcile has told among `told`, and that stands until somebody asks again. */
  earlierRefusal(told: Conditions, type: EnvironmentCondition): ConditionReport | undefined {
    const condition = findCondition(told, type);
    return condition?.status === 'False' && !this.#dropped.has(type) ? condition : undefined;
  }

  /** The conditions as they are to be written, those of `told` being there already. */
  merge(told: Conditions, generation: number, now: Date): NonNullable<Conditions> {
    const kept = (told ?? []).filter(({ type }) => !this.#dropped.has(type));
    return mergeConditions(kept, [...this.#reports.values()], generation, now);
  }
}
