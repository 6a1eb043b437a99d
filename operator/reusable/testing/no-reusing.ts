import type { Reusing } from '../reusing.ts';

/** Of environments that have nothing to do with reusable ones. */
export const noReusing: Pick<Reusing, 'seed' | 'breakOffSeed' | 'holdsBuilds' | 'publish' | 'giveUp' | 'end'> = {
  seed: () => Promise.resolve(),
  breakOffSeed: () => Promise.resolve(),
  holdsBuilds: () => false,
  publish: () => Promise.resolve(new Set()),
  giveUp: () => undefined,
  end: () => Promise.resolve(),
};
