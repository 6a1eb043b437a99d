import type { TestsView } from '../api/types.ts';

export type History = NonNullable<TestsView['history']>;
type Outcome = History[number]['tests'][number]['outcome'];

/** A test of one build. */
export interface TestedBuild {
  build: number;
  outcome: Outcome;
  /** By label. */
  numbers: ReadonlyMap<string, number>;
}

/** A number of one build. */
export interface Point {
  build: number;
  outcome: Outcome;
  value: number;
}

/** Returns the builds that a test has ended in, oldest first. */
export function buildsOf(history: History, name: string): TestedBuild[] {
  return history.toReversed().flatMap(({ build, tests }) => {
    const test = tests.find((one) => one.name === name);
    if (!test) return [];
    const numbers = new Map(test.numbers.map(({ label, value }) => [label, value]));
    return [{ build, outcome: test.outcome, numbers }];
  });
}

/** Returns the labels of a test's numbers. Those that its newest build does not have are no longer reported. */
export function labelsOf(builds: readonly TestedBuild[]): string[] {
  return [...(builds.at(-1)?.numbers.keys() ?? [])];
}

/** Returns a number over the builds that have it. */
export function pointsOf(builds: readonly TestedBuild[], label: string): Point[] {
  return builds.flatMap(({ build, outcome, numbers }) => {
    const value = numbers.get(label);
    return value === undefined ? [] : [{ build, outcome, value }];
  });
}

/** Returns which build was tested, and the combined outcome. Its message names the build too, except before tests run. */
export function testedText({ build, tested }: Pick<TestsView, 'build' | 'tested'>): string {
  const message = tested?.message ?? '';
  if (build === undefined) return message;
  const outcome = message.replace(`build ${build}: `, '');
  return outcome === '' ? `Build ${build}` : `Build ${build}: ${outcome}`;
}
