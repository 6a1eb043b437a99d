import type { Publishing } from '../volumes/publishing.ts';
import type { Seeding } from '../volumes/seeding.ts';

/** Seeding for environments without a reusable environment. */
export const noSeeding: Pick<Seeding, 'advance' | 'breakOff' | 'end'> = {
  advance: () => Promise.resolve({}),
  breakOff: () => Promise.resolve({}),
  end: () => Promise.resolve(),
};

/** Publishing for environments that publish none. */
export const noPublishing: Pick<Publishing, 'isUnderWay' | 'advance' | 'giveUp'> = {
  isUnderWay: () => false,
  advance: () => Promise.resolve({}),
  giveUp: () => ({}),
};
