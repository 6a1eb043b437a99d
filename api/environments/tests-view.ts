import { z } from 'zod';
import { findCondition } from '../../crds/conditions.ts';
import type { Environment } from '../../crds/environment.ts';
import { TEST_OUTCOMES, TESTED } from '../../crds/environment-tests.ts';
import { conditionViews, conditionViewSchema } from '../http/condition-view.ts';
import type { TestResults } from './test-results.ts';

const itemSchema = z
  .object({
    Label: z.string(),
    Type: z.enum(['number', 'string', 'image', 'blob']),
    Content: z
      .string()
      .meta({ description: 'Base64 of the UTF-8 text of a number or string, or of the bytes of other types.' }),
  })
  .meta({ id: 'TestResultItem', description: 'Results as reported by the tester, including `passed` and `summary`.' });

export const testsViewSchema = z
  .object({
    build: z.int().optional().meta({ description: 'The build that was tested; absent if none has been.' }),
    tested: conditionViewSchema
      .optional()
      .meta({ description: 'The combined outcome of all tests; absent if the service file names none.' }),
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
  })
  .meta({ id: 'Tests' });
export type TestsView = z.infer<typeof testsViewSchema>;

/** Returns the tests of an environment as REST shows them. @param results by test name */
export function testsView({ status }: Environment, results: ReadonlyMap<string, TestResults> = new Map()): TestsView {
  const { tests, conditions } = status ?? {};
  const condition = findCondition(conditions, TESTED);
  const [tested] = conditionViews(condition ? [condition] : []);
  return {
    ...(tests && { build: tests.build }),
    ...(tested && { tested }),
    tests: (tests?.runs ?? []).map(({ id, ...run }) => ({
      ...run,
      ...(id !== undefined && { ID: id }),
      ...results.get(run.name),
    })),
  };
}
