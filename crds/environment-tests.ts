import { z } from 'zod';

/** `error`: it could not run. What a test found is `passed` or `failed`. */
export const TEST_OUTCOMES = ['pending', 'running', 'passed', 'failed', 'error'] as const;
export type TestOutcome = (typeof TEST_OUTCOMES)[number];

/** The condition that sums up an environment's tests. */
export const TESTED = 'Tested';

const time = z.iso.datetime({ offset: true }).meta({ format: 'date-time' });

const testRunSchema = z.object({
  name: z.string().meta({ description: 'Name of the test.' }),
  type: z.string().meta({ description: 'Type of the test.' }),
  id: z.string().optional().meta({ description: "The run's ID at the tester." }),
  outcome: z.enum(TEST_OUTCOMES).meta({ description: 'How the test ended, or how far it is.' }),
  summary: z.string().optional().meta({ description: 'What was found, or why it could not run, in one line.' }),
  finishedAt: time.optional().meta({ description: 'When the test ended.' }),
});
export type TestRun = z.infer<typeof testRunSchema>;

export const testsStatusSchema = z.object({
  build: z.int().min(1).meta({ description: 'The build that was tested.' }),
  request: z.string().optional().meta({ description: 'The last request to test again, as far as it was handled.' }),
  since: time.meta({ description: 'When the tests were begun.' }),
  runs: z.array(testRunSchema).meta({
    description: 'One run for each test.',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
  }),
});
export type TestsStatus = z.infer<typeof testsStatusSchema>;

/** By what a run's status and results are asked for at the tester (contract section 2). */
export const runAddressSchema = z.object({ ID: z.string().min(1), Secret: z.string().min(1) });
export type RunAddress = z.infer<typeof runAddressSchema>;

/** What the Secret of an environment's test runs holds under RUNS_KEY, as JSON: whose runs, and each by its test's name. */
export const keptRunsSchema = z.object({
  build: z.int(),
  request: z.string().optional(),
  runs: z.record(z.string(), runAddressSchema),
});
export type KeptRuns = z.infer<typeof keptRunsSchema>;

export const RUNS_KEY = 'runs.json';

/** The Secret, beside the Environment, that nobody but Coppice is to read. */
export function testRunsSecretName(environment: string): string {
  return `tests-${environment}`;
}
