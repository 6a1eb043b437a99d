import type { SleepingOptions } from '../lifecycle/sleeping.ts';
import type { WakerReports } from '../services/waker-reports.ts';

/** Reports of an installation without wakers. */
export const noWakers: Pick<WakerReports, 'asleep' | 'rollingOut' | 'forget'> = {
  asleep: () => undefined,
  rollingOut: () => undefined,
  forget: () => undefined,
};

/** Sleep without wakers: nobody sees visits. */
export const noWatch: Pick<SleepingOptions, 'visits' | 'connections' | 'hasWaker'> = {
  visits: { take: () => undefined },
  connections: { of: () => Promise.resolve('none') },
  hasWaker: () => false,
};
