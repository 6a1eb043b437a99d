import { Conflict } from '../http/errors.ts';

/** How many of a thing there can be; what the CRDs limit besides is the same there. */
export const MOST = {
  /** That one account made, whether it is still in them or not: else who leaves them behind makes any number. */
  groups: 100,
  /** Of a group; the CRD's. */
  members: 500,
  /** Of a group. */
  repositories: 500,
  /** Of a repository; the chart's `sources.mostEnvironments` limits those that its refs make. */
  environments: 10_000,
  /** Of a group, and of a repository; the CRD's. */
  variables: 200,
};

/** @param whose such as `the group` @throws Conflict when there is no room for one more. */
export function requireRoom(whose: string, what: keyof typeof MOST, there: number): void {
  if (there < MOST[what]) return;
  throw new Conflict(`${whose} has ${there} ${what}, and ${MOST[what]} is the most: remove some`);
}
