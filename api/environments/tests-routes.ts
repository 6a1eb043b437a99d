import { z } from 'zod';
import type { Caller } from '../auth/caller.ts';
import type { Directory } from '../auth/directory.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { Conflict, NotFound } from '../http/errors.ts';
import type { EnvironmentService } from './environment-service.ts';
import type { TestResultsReader } from './test-results.ts';
import { testsView, testsViewSchema } from './tests-view.ts';

export interface TestsRoutes {
  directory: Directory;
  environments: EnvironmentService;
  results: TestResultsReader;
}

const querySchema = z.object({ name: z.string().max(40).optional() });

/** Ours: what the tests of an environment found, and to test again. */
export function testsRoutes({ directory, environments, results }: TestsRoutes): Endpoint[] {
  const path = '/api/environment/{environmentID}/tests';
  const find = (caller: Caller, { environmentID }: { environmentID: string }) =>
    directory.environment(caller, environmentID);
  return [
    endpoint({
      method: 'get',
      path,
      summary: 'The tests of an environment with their results',
      description: 'With `name` that test alone. The results of each are read from the tester, images among them.',
      find,
      writes: false,
      query: querySchema,
      answer: testsViewSchema,
      also: { 503: 'As elsewhere; and one answer with results is on its way to each caller, and 4 to all.' },
      run: async ({ caller: { user }, target: { environment }, query: { name }, response }) => {
        const runs = environment.status?.tests?.runs ?? [];
        const names = runs.map((run) => run.name).filter((one) => name === undefined || one === name);
        if (name !== undefined && names.length === 0) throw new NotFound('the environment has no test of this name');
        const found = await results.read(environment, { name }, { accountId: user.accountId, response });
        const view = testsView(environment, found);
        return { ...view, tests: view.tests.filter((test) => names.includes(test.name)) };
      },
    }),
    endpoint({
      method: 'post',
      path,
      summary: 'Tests an environment again',
      find,
      writes: true,
      needs: 'operate',
      status: 202,
      answer: testsViewSchema,
      also: { 409: 'Nothing runs, its service file names no tests, tests are off, or it is being deleted.' },
      run: async ({ target: { environment } }) => {
        if (results.isOff) throw new Conflict('tests are off in this installation');
        return testsView(await environments.test(environment));
      },
    }),
  ];
}
