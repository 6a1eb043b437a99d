import type { EnvironmentView, RepositorySettingsView } from '../api/types.ts';

export type SleepSettings = RepositorySettingsView['sleep'];
type Hours = NonNullable<SleepSettings['workingHours']>;
export type Day = Hours['days'][number];
export type WakeOn = NonNullable<SleepSettings['wakeOn']>;

/** The days of a week in order, with their names. */
export const DAYS: readonly (readonly [Day, string])[] = [
  ['mon', 'Monday'],
  ['tue', 'Tuesday'],
  ['wed', 'Wednesday'],
  ['thu', 'Thursday'],
  ['fri', 'Friday'],
  ['sat', 'Saturday'],
  ['sun', 'Sunday'],
];
export const WORKDAYS: readonly Day[] = ['mon', 'tue', 'wed', 'thu', 'fri'];

/** Returns working hours as words: `Monday to Friday, 08:00 to 18:00 (Europe/Berlin)`. */
export function hoursText({ days, from, to, timeZone }: Hours): string {
  return `${daysText(days)}, ${from} to ${to} (${timeZone})`;
}

function daysText(chosen: readonly Day[]): string {
  const indexes = DAYS.flatMap(([day], index) => (chosen.includes(day) ? [index] : []));
  const names = indexes.map((index) => DAYS[index]?.[1] ?? '');
  const isRun = indexes.every((day, position) => day === (indexes[0] ?? 0) + position);
  if (indexes.length === DAYS.length) return 'every day';
  return isRun && names.length > 2 ? `${names[0]} to ${names.at(-1)}` : names.join(', ');
}

const reasons: Partial<Record<NonNullable<EnvironmentView['sleep']>['reason'], string>> = {
  Requested: 'Its services are stopped, because somebody requested it.',
  Idle: 'Its services are stopped, because nobody visited it.',
  OutsideWorkingHours: 'Its services are stopped outside of working hours.',
};

const wakers: Record<WakeOn, string> = {
  visit: 'It wakes when somebody opens its address, or with the button Wake.',
  login: 'Members wake it with the button Wake; its address leads them here.',
  never: 'A visit does not wake it; the button Wake does.',
};

/** Returns why an environment sleeps, and what wakes it. A request that is not handled yet has no reason. */
export function asleepText(reason: string | undefined, wakeOn: WakeOn = 'visit'): string {
  const why = Object.entries(reasons).find(([one]) => one === reason)?.[1];
  return `${why ?? 'Its services are being stopped.'} ${wakers[wakeOn]}`;
}
