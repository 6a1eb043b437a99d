import { stringify } from 'yaml';
import { z } from 'zod';
import type { RestClient } from '../client/rest-client.ts';
import { waitFor } from '../support/wait-for.ts';
import { smallPage } from './small-page.ts';

export interface NamedTest {
  name: string;
  type: string;
  params?: object;
}

/** Returns a page of this HTML whose service file has these tests. */
export function testedPage(html: string, tests: readonly NamedTest[]): Record<string, string> {
  const files = smallPage(html);
  return { ...files, 'compose.yaml': `${files['compose.yaml'] ?? ''}${stringify({ 'x-coppice': { tests } })}` };
}

const testsSchema = z.object({
  build: z.int().optional(),
  tested: z.object({ status: z.string(), reason: z.string(), message: z.string() }).optional(),
  tests: z.array(
    z.looseObject({
      name: z.string(),
      ID: z.string().optional(),
      outcome: z.string(),
      summary: z.string().optional(),
      message: z.string().optional(),
      result: z.array(z.object({ Label: z.string(), Type: z.string(), Content: z.base64() })).optional(),
    }),
  ),
  history: z
    .array(
      z.object({
        build: z.int(),
        commit: z.string(),
        tests: z.array(
          z.object({
            name: z.string(),
            outcome: z.string(),
            numbers: z.array(z.object({ label: z.string(), value: z.number() })),
          }),
        ),
      }),
    )
    .optional(),
});
export type TestsAnswer = z.infer<typeof testsSchema>;

export function testsOf(client: RestClient, id: string, query = ''): Promise<TestsAnswer> {
  return client.call(testsSchema, 'GET', `/api/environment/${id}/tests${query}`);
}

/** Returns the tests of an environment when none is running, and all runs differ from those in `before`. */
export function testsOver(client: RestClient, id: string, before: TestsAnswer = { tests: [] }): Promise<TestsAnswer> {
  const former = before.tests.map(({ ID }) => ID);
  return waitFor(`the tests of ${id} to be over`, 150, async () => {
    const answer = await testsOf(client, id);
    const isOver = ({ outcome, ID }: TestsAnswer['tests'][number]) =>
      outcome !== 'pending' && outcome !== 'running' && !(ID !== undefined && former.includes(ID));
    if (answer.tests.length > 0 && answer.tests.every(isOver)) return answer;
    throw new Error(JSON.stringify(answer).slice(0, 1000));
  });
}
