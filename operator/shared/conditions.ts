import type { ConditionReport } from '../../crds/conditions.ts';
import { malformedRequests } from '../../crds/requests.ts';
import { Stalled, Waiting } from './errors.ts';
import { cut } from './one-line.ts';

/** The three conditions that sum an object up, as kstatus and `kubectl wait` read them: it is as is wanted. */
export function ready(reason: string, message: string): ConditionReport[] {
  return [
    { type: 'Ready', status: 'True', reason, message },
    { type: 'Reconciling', status: 'False', reason, message: 'reconciliation is complete' },
    { type: 'Stalled', status: 'False', reason, message: 'there is no failure' },
  ];
}

/** On the way: it goes on by itself. */
export function reconciling(reason: string, message: string): ConditionReport[] {
  return [
    { type: 'Ready', status: 'False', reason, message: brief(message) },
    { type: 'Reconciling', status: 'True', reason, message },
    { type: 'Stalled', status: 'False', reason, message: 'there is no failure' },
  ];
}

/** It cannot go on until somebody acts. */
export function stalled(reason: string, message: string): ConditionReport[] {
  return [
    { type: 'Ready', status: 'False', reason, message: brief(message) },
    { type: 'Reconciling', status: 'False', reason, message: 'reconciliation cannot continue' },
    { type: 'Stalled', status: 'True', reason, message },
  ];
}

/** The condition that reports requests which nobody can handle; absent where there are none. */
export const REQUESTS_VALID = 'RequestsValid';

/** Reports annotations `request-…` that ask for nothing that there is; undefined where all can be handled. */
export function requestReport(
  known: readonly string[],
  annotations: Record<string, string> | undefined,
): ConditionReport | undefined {
  const malformed = malformedRequests(known, annotations);
  if (malformed.length === 0) return undefined;
  const message = `${malformed.join('; ').slice(0, 2000)}. Correct or remove the annotation`;
  return { type: REQUESTS_VALID, status: 'False', reason: 'MalformedRequest', message };
}

/** The three conditions of an object that is suspended: it is ready if it was when it was suspended. */
export function suspended(wasReady: boolean, message: string): ConditionReport[] {
  return [
    { type: 'Ready', status: wasReady ? 'True' : 'False', reason: 'Suspended', message },
    { type: 'Reconciling', status: 'False', reason: 'Suspended', message: 'reconciliation is suspended' },
    { type: 'Stalled', status: 'False', reason: 'Suspended', message: 'there is no failure; spec.suspend is set' },
  ];
}

/** What an error means for the object whose reconcile it ended. */
export function afterError(error: unknown): ConditionReport[] {
  if (error instanceof Stalled) return stalled(error.reason, error.message);
  if (error instanceof Waiting) return reconciling(error.reason, error.message);
  return reconciling('Retrying', describe(error));
}

const MAX_BRIEF = 200;

/**
 * The beginning of a message that another condition reports whole: what programs wrote is not repeated in each of them.
 */
export function brief(message: string): string {
  const [first = ''] = message.split('\n');
  const shown = cut(first, MAX_BRIEF);
  return shown === first && first.length < message.length ? `${first} …` : shown;
}

/** An error's message and its causes', each once, in one line. */
export function describe(error: unknown): string {
  const parts: string[] = [];
  for (let one = error; one instanceof Error; one = one.cause) {
    if (!parts.includes(one.message)) parts.push(one.message);
  }
  return (parts.length > 0 ? parts.join(': ') : String(error)).slice(0, 2000);
}
