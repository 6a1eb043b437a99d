import { z } from 'zod';
import { timestampSchema } from './timestamp.ts';

/** `error`: the test could not run. Findings of a test are `passed` or `failed`. */
export const TEST_OUTCOMES = ['pending', 'running', 'passed', 'failed', 'error'] as const;
export type TestOutcome = (typeof TEST_OUTCOMES)[number];

/** The condition that summarizes an environment's tests. */
export const TESTED = 'Tested';

const testRunSchema = z.object({
  name: z.string().meta({ description: 'Name of the test.' }),
  type: z.string().meta({ description: 'Type of the test.' }),
  id: z.string().optional().meta({ description: "The run's ID at the tester." }),
  outcome: z.enum(TEST_OUTCOMES).meta({ description: 'State or outcome of the test.' }),
  summary: z.string().optional().meta({ description: 'One line: the finding, or why the test could not run.' }),
  finishedAt: timestampSchema.optional().meta({ description: 'When the test ended.' }),
});
export type TestRun = z.infer<typeof testRunSchema>;

export const testsStatusSchema = z.object({
  build: z.int().min(1).meta({ description: 'The build that was tested.' }),
  request: z.string().optional().meta({ description: 'Value of the last handled request to run the tests again.' }),
  since: timestampSchema.meta({ description: 'When the tests were started.' }),
  runs: z.array(testRunSchema).meta({
    description: 'One run for each test.',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
  }),
});
export type TestsStatus = z.infer<typeof testsStatusSchema>;

/** The ID and secret with which a run's status and results are requested at the tester. */
export const runAddressSchema = z.object({ ID: z.string().min(1), Secret: z.string().min(1) });
export type RunAddress = z.infer<typeof runAddressSchema>;

/**
 * Content of the Secret of an environment's test runs under RUNS_KEY, as JSON: the build, and each run by its test's
 * name.
 */
export const keptRunsSchema = z.object({
  build: z.int(),
  request: z.string().optional(),
  runs: z.record(z.string(), runAddressSchema),
});
export type KeptRuns = z.infer<typeof keptRunsSchema>;

export const RUNS_KEY = 'runs.json';

/** Returns the name of the Secret beside the Environment, which only Coppice reads. */
export function testRunsSecretName(environment: string): string {
  return `tests-${environment}`;
}
