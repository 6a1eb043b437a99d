import type { Condition, ConditionReport } from '../../crds/conditions.ts';
import { malformedRequests } from '../../crds/requests.ts';
import type { VariableSpec } from '../../crds/variable.ts';
import { isReservedName, RESERVED_NAME } from '../../service-file/own-variables.ts';
import { Stalled, Waiting } from './errors.ts';
import { cut } from './one-line.ts';

/**
 * Returns the conditions of an object that is as wanted: Ready, Reconciling and Stalled, as kstatus and `kubectl wait`
 * read them.
 */
export function ready(reason: string, message: string): ConditionReport[] {
  return [
    { type: 'Ready', status: 'True', reason, message },
    { type: 'Reconciling', status: 'False', reason, message: 'reconciliation is complete' },
    { type: 'Stalled', status: 'False', reason, message: 'there is no failure' },
  ];
}

/** Returns the conditions of an object that makes progress by itself. */
export function reconciling(reason: string, message: string): ConditionReport[] {
  return [
    { type: 'Ready', status: 'False', reason, message: brief(message) },
    { type: 'Reconciling', status: 'True', reason, message },
    { type: 'Stalled', status: 'False', reason, message: 'there is no failure' },
  ];
}

/** Returns the conditions of an object that waits for something else, perhaps for a user to create it. */
function waiting(reason: string, message: string): ConditionReport[] {
  const stalledMessage = 'Coppice waits, and continues by itself. The condition Reconciling says for what';
  return reconciling(reason, message).map((report) =>
    report.type === 'Stalled' ? { ...report, message: stalledMessage } : report,
  );
}

/** Returns the conditions of an object that is being deleted. */
export function terminating(message: string): ConditionReport[] {
  return reconciling('Terminating', message);
}

/** Returns the conditions of an object that cannot continue until a user acts. */
export function stalled(reason: string, message: string): ConditionReport[] {
  return [
    { type: 'Ready', status: 'False', reason, message: brief(message) },
    {
      type: 'Reconciling',
      status: 'False',
      reason,
      message: 'reconciliation has stopped until you act. The condition Stalled says why and what to do',
    },
    { type: 'Stalled', status: 'True', reason, message },
  ];
}

/** The condition for requests that cannot be handled; absent if there are none. */
export const REQUESTS_VALID = 'RequestsValid';

/** Returns the report on `request-…` annotations that are not valid; undefined if all are. */
export function requestReport(
  known: readonly string[],
  annotations: Record<string, string> | undefined,
): ConditionReport | undefined {
  const malformed = malformedRequests(known, annotations);
  if (malformed.length === 0) return undefined;
  const message = `${malformed.join('; ').slice(0, 2000)}. Correct or remove the annotation`;
  return { type: REQUESTS_VALID, status: 'False', reason: 'MalformedRequest', message };
}

/** The condition for variables that have no effect; absent if there are none. */
export const VARIABLES_VALID = 'VariablesValid';

/** Returns the report on variables with names that only Coppice sets; undefined if there are none. */
export function variablesReport(variables: readonly Pick<VariableSpec, 'name'>[] = []): ConditionReport | undefined {
  const names = variables.map(({ name }) => name).filter(isReservedName);
  if (names.length === 0) return undefined;
  const message = `${names.join(', ').slice(0, 2000)}: ignored, because ${RESERVED_NAME}. Rename or delete them`;
  return { type: VARIABLES_VALID, status: 'False', reason: 'ReservedName', message };
}

interface WithVariables {
  metadata: { annotations?: Record<string, string> | undefined };
  spec: { variables?: readonly VariableSpec[] | undefined };
  status?: { conditions?: readonly Condition[] | undefined } | undefined;
}

/** Returns the reports on what is wrong in the object itself, and the former conditions without those that are over. */
export function inputReports(
  known: readonly string[],
  { metadata, spec, status }: WithVariables,
): { reports: ConditionReport[]; before: Condition[] } {
  const found = [requestReport(known, metadata.annotations), variablesReport(spec.variables)];
  const reports = found.filter((report) => report !== undefined);
  const isOver = ({ type }: Condition) =>
    [REQUESTS_VALID, VARIABLES_VALID].includes(type) && !reports.some((report) => report.type === type);
  return { reports, before: (status?.conditions ?? []).filter((condition) => !isOver(condition)) };
}

/** Returns the conditions of a suspended object: it is ready if it was ready before. */
export function suspended(wasReady: boolean, message: string): ConditionReport[] {
  return [
    { type: 'Ready', status: wasReady ? 'True' : 'False', reason: 'Suspended', message },
    {
      type: 'Reconciling',
      status: 'False',
      reason: 'Suspended',
      message: 'reconciliation is suspended. Set spec.suspend to false to continue',
    },
    { type: 'Stalled', status: 'False', reason: 'Suspended', message: 'there is no failure; spec.suspend is set' },
  ];
}

/** Returns the conditions for an error that ended the object's reconcile. */
export function afterError(error: unknown): ConditionReport[] {
  if (error instanceof Stalled) return stalled(error.reason, error.message);
  if (error instanceof Waiting) return waiting(error.reason, error.message);
  return reconciling('Retrying', describeRetried(error));
}

const maxBrief = 200;

/**
 * Returns the start of a message that another condition contains completely, so that output of programs is not repeated
 * in each.
 */
export function brief(message: string): string {
  const [first = ''] = message.split('\n');
  const shown = cut(first, maxBrief);
  return shown === first && first.length < message.length ? `${first} …` : shown;
}

/** Returns the description of an error after which the reconcile is repeated. */
export function describeRetried(error: unknown): string {
  return `${describe(error).replace(/\.$/, '')}. Coppice retries this`;
}

/** Returns an error's message and those of its causes, each once, in one line. */
export function describe(error: unknown): string {
  const parts: string[] = [];
  for (let one = error; one instanceof Error; one = one.cause) {
    if (!parts.includes(one.message)) parts.push(one.message);
  }
  return (parts.length > 0 ? parts.join(': ') : String(error)).slice(0, 2000);
}
