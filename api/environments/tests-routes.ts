import { z } from 'zod';
import type { Caller } from '../auth/caller.ts';
import type { Directory } from '../auth/visibility.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { Conflict, NotFound } from '../shared/errors.ts';
import type { EnvironmentService } from './environment-service.ts';
import type { TestResultsReader } from './test-results.ts';
import { testsView, testsViewSchema } from './tests-view.ts';

export interface TestsRoutesOptions {
  directory: Directory;
  environments: EnvironmentService;
  results: TestResultsReader;
}

const querySchema = z.object({ name: z.string().max(40).optional() });

/** Routes (an extension) to read the tests of an environment and to run them again. */
export function testsRoutes({ directory, environments, results }: TestsRoutesOptions): Endpoint[] {
  const path = '/api/environment/{environmentID}/tests';
  const find = (caller: Caller, { environmentID }: { environmentID: string }) =>
    directory.environment(caller, environmentID);
  return [
    endpoint({
      method: 'get',
      path,
      summary: 'Returns the tests of an environment with their results, and what they found before',
      description: '`name` selects one test. Results, including images, are read from the tester.',
      find,
      writes: false,
      query: querySchema,
      answer: testsViewSchema,
      also: {
        503: 'The request limit, or the limit of concurrent responses with results: one per caller, 4 in total.',
      },
      run: async ({ caller: { user }, target: { environment }, query: { name }, response }) => {
        const runs = environment.status?.tests?.runs ?? [];
        if (name !== undefined && !runs.some((run) => run.name === name))
          throw new NotFound('the environment has no test of this name. Omit ?name to list all');
        const stored = await results.read(environment, { name }, { accountId: user.accountId, response });
        return testsView(environment, stored, name);
      },
    }),
    endpoint({
      method: 'post',
      path,
      summary: 'Runs the tests of an environment again',
      find,
      writes: true,
      needs: 'operate',
      status: 202,
      answer: testsViewSchema,
      also: {
        409: 'Nothing is deployed, the service file names no tests, tests are disabled, or the environment is being deleted.',
      },
      run: async ({ target: { environment } }) => {
        if (results.isOff)
          throw new Conflict(
            'tests are disabled in this installation. Ask an administrator to enable them (chart value tester.enabled)',
          );
        return testsView(await environments.test(environment));
      },
    }),
  ];
}
