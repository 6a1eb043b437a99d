import type { ConditionView } from '../api/types.ts';

/** Conditions in the order in which they explain why an object is not ready: causes before consequences. */
const causes: readonly { type: string; status: string }[] = [
  { type: 'Stalled', status: 'True' },
  { type: 'Created', status: 'False' },
  { type: 'Built', status: 'False' },
  { type: 'Available', status: 'False' },
  { type: 'RequestsValid', status: 'False' },
  { type: 'VariablesValid', status: 'False' },
];

/** Returns the condition that best explains why an object is not ready; undefined if it is ready. */
export function problemOf(conditions: readonly ConditionView[]): ConditionView | undefined {
  return causes
    .map(({ type, status }) => conditions.find((one) => one.type === type && one.status === status))
    .find((one) => one !== undefined);
}

/** Returns a condition's reason as words: `BuildFailed` becomes `Build failed`. */
export function reasonText(reason: string): string {
  const words = reason.replace(/([a-z0-9])([A-Z])/g, '$1 $2').split(' ');
  return words.map((word, index) => (index > 0 && !/^[A-Z]{2}/.test(word) ? word.toLowerCase() : word)).join(' ');
}
