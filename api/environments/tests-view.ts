import { z } from 'zod';
import { findCondition } from '../../crds/conditions.ts';
import type { Environment } from '../../crds/environment.ts';
import { TEST_OUTCOMES, TESTED } from '../../crds/environment-tests.ts';
import { requestAnnotation, TEST_REQUEST } from '../../crds/requests.ts';
import type { TestHistory } from '../../crds/test-history.ts';
import { conditionViews, conditionViewSchema } from '../http/condition-view.ts';
import type { StoredTests } from './test-results.ts';

const itemSchema = z
  .object({
    Label: z.string(),
    Type: z.enum(['number', 'string', 'image', 'blob']),
    Content: z
      .string()
      .meta({ description: 'Base64 of the UTF-8 text of a number or string, or of the bytes of other types.' }),
  })
  .meta({ id: 'TestResultItem', description: 'Results as reported by the tester, including `passed` and `summary`.' });

const testedBuildSchema = z
  .object({
    build: z.int(),
    commit: z.string().optional(),
    finishedAt: z.string().meta({ description: 'When the last of the tests ended.' }),
    tests: z.array(
      z.object({
        name: z.string(),
        outcome: z.enum(['passed', 'failed']),
        numbers: z
          .array(z.object({ label: z.string(), value: z.number() }))
          .meta({ description: 'The first 16 numbers in its results. Labels are cut to 40 characters.' }),
      }),
    ),
  })
  .meta({ id: 'TestedBuild' });

export const testsViewSchema = z
  .object({
    build: z.int().optional().meta({ description: 'The build that was tested; absent if none has been.' }),
    tested: conditionViewSchema
      .optional()
      .meta({ description: 'The combined outcome of all tests; absent if the service file names none.' }),
    waiting: z.literal(true).optional().meta({
      description:
        'The tests of the deployed build, or those requested last, have not started: `tests` are older ones.',
    }),
    tests: z.array(
      z.object({
        name: z.string(),
        type: z.string(),
        ID: z.string().optional().meta({ description: "The run's ID at the tester." }),
        outcome: z.enum(TEST_OUTCOMES).meta({ description: '`error`: the test could not run.' }),
        summary: z.string().optional(),
        finishedAt: z.string().optional(),
        result: z.array(itemSchema).optional().meta({ description: 'Results of a test that `passed` or `failed`.' }),
        message: z.string().optional().meta({ description: 'Why the test has no `result`.' }),
      }),
    ),
    history: z.array(testedBuildSchema).optional().meta({
      description:
        'What the tests of the last 20 tested builds found, newest first; absent if no test has finished. At most 32 KiB are stored, so that it may have fewer builds.',
    }),
  })
  .meta({ id: 'Tests' });
export type TestsView = z.infer<typeof testsViewSchema>;

const nothing: StoredTests = { results: new Map(), history: [] };

/** Returns the tests of an environment as REST shows them. @param name of the only test to show; undefined for all */
export function testsView(environment: Environment, stored = nothing, name?: string): TestsView {
  const { status } = environment;
  const { tests, conditions } = status ?? {};
  const condition = findCondition(conditions, TESTED);
  const [tested] = conditionViews(condition ? [condition] : []);
  const isShown = (test: { name: string }) => name === undefined || test.name === name;
  const history = historyView(stored.history, isShown);
  return {
    ...(tests && { build: tests.build }),
    ...(tested && { tested }),
    ...(isWaiting(environment) && { waiting: true as const }),
    tests: (tests?.runs ?? []).filter(isShown).map(({ id, ...run }) => ({
      ...run,
      ...(id !== undefined && { ID: id }),
      ...stored.results.get(run.name),
    })),
    ...(history.length > 0 && { history }),
  };
}

/** Returns whether tests are to run that have not started; with the round in the status they have. */
function isWaiting({ metadata, status }: Environment): boolean {
  const { deployed, tests } = status ?? {};
  if (deployed?.tests === undefined) return false;
  const request = metadata.annotations?.[requestAnnotation(TEST_REQUEST)];
  return tests?.build !== deployed.number || (request !== undefined && tests.request !== request);
}

function historyView(
  history: TestHistory,
  isShown: (test: { name: string }) => boolean,
): NonNullable<TestsView['history']> {
  return history
    .map(({ tests, ...build }) => ({
      ...build,
      tests: tests.filter(isShown).map(({ numbers, ...test }) => ({
        ...test,
        numbers: numbers.map(([label, value]) => ({ label, value })),
      })),
    }))
    .filter(({ tests }) => tests.length > 0);
}
