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
      .meta({ description: 'Base64: of the UTF-8 text of a number or string, of the bytes otherwise.' }),
  })
  .meta({ id: 'TestResultItem', description: 'As the tester has it; `passed` and `summary` are among them.' });

export const testsViewSchema = z
  .object({
    build: z.int().optional().meta({ description: 'The build that was tested; absent: none was yet.' }),
    tested: conditionViewSchema.optional().meta({ description: 'What all tests come to; absent: none are named.' }),
    tests: z.array(
      z.object({
        name: z.string(),
        type: z.string(),
        ID: z.string().optional().meta({ description: "The run's, at the tester." }),
        outcome: z.enum(TEST_OUTCOMES).meta({ description: '`error`: it could not run.' }),
        summary: z.string().optional(),
        finishedAt: z.string().optional(),
        result: z.array(itemSchema).optional().meta({ description: 'Of a test that `passed` or `failed`.' }),
        message: z.string().optional().meta({ description: 'Why there is no `result` of it.' }),
      }),
    ),
  })
  .meta({ id: 'Tests' });
export type TestsView = z.infer<typeof testsViewSchema>;

/** @param results by the names of tests */
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
