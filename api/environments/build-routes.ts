import { z } from 'zod';
import type { Environment } from '../../crds/environment.ts';
import { requestTime } from '../../crds/requests.ts';
import { WaitTimeoutError } from '../../kubernetes/change-waiters.ts';
import { keyOf } from '../../kubernetes/resource-type.ts';
import type { Authenticator } from '../auth/authenticate.ts';
import type { Viewer } from '../auth/caller.ts';
import type { Directory } from '../auth/visibility.ts';
import type { Caches } from '../cluster/caches.ts';
import { endpoint, type Call, type Endpoint } from '../http/endpoint.ts';
import { NotFound, Unauthorized } from '../shared/errors.ts';
import { NO_SUCH_ENVIRONMENT, TOKEN_NOT_VALID } from '../shared/messages.ts';
import { MAX_WAIT_SECONDS, type LongPolls, type Wait } from '../http/long-polls.ts';
import { integerField } from '../http/parse.ts';
import { buildViews, buildViewSchema, isOver, numberedBuild, type BuildView } from './build-view.ts';
import { findBuild } from './find-build.ts';

export interface BuildRoutesOptions {
  directory: Directory;
  authenticator: Pick<Authenticator, 'authenticate'>;
  cache: Pick<Caches['environments'], 'waitFor'>;
  longPolls: Pick<LongPolls, 'run'>;
}

const noBuild = 'there is no build of this number, or it is no longer kept. GET …/builds lists those that are kept';

const waitQuery = z.object({
  wait: integerField(0, MAX_WAIT_SECONDS).default(0).meta({
    description: 'Seconds to wait for the build to end. The response is sent as soon as it ends.',
  }),
});
const requestQuery = waitQuery.extend({
  request: z
    .string()
    .max(200)
    .refine((value) => requestTime(value) !== undefined, {
      error: 'must be the id of a build request, TIME/ID, as the response to the request contains it',
    })
    .optional()
    .meta({ description: 'The id of a request. Returns the build that the request started or joined.' }),
});

type WaitQuery = z.infer<typeof waitQuery>;

/** Routes (an extension) to list the builds of an environment and to wait for one. */
export function buildRoutes({ directory, authenticator, cache, longPolls }: BuildRoutesOptions): Endpoint[] {
  const path = '/api/environment/{environmentID}';
  const find = (viewer: Viewer, { environmentID }: { environmentID: string }) => ({
    environmentID,
    environment: directory.environment(viewer, environmentID).environment,
  });

  /**
   * Responds with the build when it has ended or the wait is over.
   * @param read throws NotFound if the build does not exist
   */
  const answer = async (
    { caller, target, query, response }: Call<ReturnType<typeof find>, undefined, WaitQuery>,
    read: (environment: Environment) => BuildView,
  ): Promise<BuildView> => {
    const { environment, environmentID } = target;
    const build = read(environment);
    if (isOver(build) || query.wait === 0) return build;
    const poll = { accountId: caller.user.accountId, seconds: query.wait, response };
    await longPolls.run(poll, (wait) => untilOver(cache, environment, read, wait));
    // The token can have been deleted, or its account removed, during the wait.
    const viewer = await authenticator.authenticate(caller.credential);
    if (!viewer) throw new Unauthorized(TOKEN_NOT_VALID);
    const now = directory.environment(viewer, environmentID).environment;
    if (now.metadata.uid !== environment.metadata.uid) throw new NotFound(NO_SUCH_ENVIRONMENT);
    return read(now);
  };

  return [
    endpoint({
      method: 'get',
      path: `${path}/builds`,
      summary: 'Lists the builds of an environment, newest first (extension)',
      description: 'The running or pending build, and the last 10 finished builds.',
      find,
      writes: false,
      answer: z.array(buildViewSchema),
      run: ({ target: { environment } }) => buildViews(environment),
    }),
    endpoint({
      method: 'get',
      path: `${path}/build`,
      summary: 'Returns the build that a request started, or the current build; can wait for its end (extension)',
      description: 'Without `request`: the running or pending build, or else the last one.',
      find,
      writes: false,
      query: requestQuery,
      answer: buildViewSchema,
      also: { 429: 'The request limit, or too many requests of the account are waiting.' },
      run: (call) => answer(call, (environment) => findBuild(environment, call.query.request)),
    }),
    endpoint({
      method: 'get',
      path: `${path}/build/{number}`,
      summary: 'Returns a build by its number; can wait for its end (extension)',
      find: (caller, parameters) => ({ ...find(caller, parameters), number: buildNumber(parameters.number) }),
      writes: false,
      query: waitQuery,
      answer: buildViewSchema,
      also: { 429: 'The request limit, or too many requests of the account are waiting.' },
      run: (call) =>
        answer(call, (environment) => {
          const build = numberedBuild(environment, call.target.number);
          if (!build) throw new NotFound(noBuild);
          return build;
        }),
    }),
  ];
}

function buildNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new NotFound(noBuild);
  return Number(text);
}

/** Resolves when the build has ended; also when the environment is deleted, or on timeout, disconnect and shutdown. */
async function untilOver(
  cache: BuildRoutesOptions['cache'],
  environment: Environment,
  read: (environment: Environment) => BuildView,
  { timeoutMs, signal }: Wait,
): Promise<void> {
  const isSettled = (now: Environment | undefined) => {
    if (now?.metadata.uid !== environment.metadata.uid || now === undefined) return true;
    try {
      return isOver(read(now));
    } catch (error) {
      if (error instanceof NotFound) return true;
      throw error;
    }
  };
  try {
    await cache.waitFor(keyOf(environment), isSettled, { timeoutMs, signal });
  } catch (error) {
    if (!(error instanceof WaitTimeoutError) && !signal.aborted) throw error;
  }
}
