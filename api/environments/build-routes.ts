import { z } from 'zod';
import type { Environment } from '../../crds/environment.ts';
import { requestTime } from '../../crds/requests.ts';
import { WaitTimeoutError } from '../../kubernetes/change-waiters.ts';
import { keyOf } from '../../kubernetes/resource-type.ts';
import type { Viewer } from '../auth/caller.ts';
import type { Directory } from '../auth/directory.ts';
import type { Caches } from '../cluster/caches.ts';
import { endpoint, type Call, type Endpoint } from '../http/endpoint.ts';
import { NotFound } from '../http/errors.ts';
import { MAX_WAIT_SECONDS, type LongPolls, type Wait } from '../http/long-polls.ts';
import { integerField } from '../http/parse.ts';
import {
  buildViews,
  buildViewSchema,
  currentBuildView,
  isOver,
  numberedBuild,
  requestedBuild,
  type BuildView,
} from './build-view.ts';

export interface BuildRoutes {
  directory: Directory;
  cache: Pick<Caches['environments'], 'waitFor'>;
  longPolls: Pick<LongPolls, 'run'>;
}

const waitQuery = z.object({
  wait: integerField(0, MAX_WAIT_SECONDS).default(0).meta({
    description: 'Seconds to wait for the end of the build, if it is not over; the answer comes as soon as it is.',
  }),
});
const requestQuery = waitQuery.extend({
  request: z
    .string()
    .max(200)
    .refine((value) => requestTime(value) !== undefined, { error: 'must be the id of a request, TIME/ID' })
    .optional()
    .meta({ description: 'The id of a request: the build that it became or joined.' }),
});

type WaitQuery = z.infer<typeof waitQuery>;

/** Ours: the builds of an environment, and how to wait for one of them. */
export function buildRoutes({ directory, cache, longPolls }: BuildRoutes): Endpoint[] {
  const path = '/api/environment/{environmentID}';
  const find = (viewer: Viewer, { environmentID }: { environmentID: string }) => ({
    environmentID,
    environment: directory.environment(viewer, environmentID).environment,
  });

  /** @param read throws NotFound where there is no such build */
  const answer = async (
    { caller, target, query, response }: Call<ReturnType<typeof find>, undefined, WaitQuery>,
    read: (environment: Environment) => BuildView,
  ): Promise<BuildView> => {
    const { environment, environmentID } = target;
    const build = read(environment);
    if (isOver(build) || query.wait === 0) return build;
    const poll = { accountId: caller.user.accountId, seconds: query.wait, response };
    await longPolls.run(poll, (wait) => untilOver(cache, environment, read, wait));
    const now = directory.environment(caller, environmentID).environment;
    if (now.metadata.uid !== environment.metadata.uid) throw new NotFound('no such environment');
    return read(now);
  };

  return [
    endpoint({
      method: 'get',
      path: `${path}/builds`,
      summary: 'The builds of an environment, the newest first (ours)',
      description: 'The one that runs or is awaited, and the last 10 that finished.',
      find,
      writes: false,
      answer: z.array(buildViewSchema),
      run: ({ target: { environment } }) => buildViews(environment),
    }),
    endpoint({
      method: 'get',
      path: `${path}/build`,
      summary: 'The build that a request became, or the current one; waits for its end (ours)',
      description: 'Without `request` it is the build that runs or is awaited, or the last one.',
      find,
      writes: false,
      query: requestQuery,
      answer: buildViewSchema,
      also: { 429: 'As elsewhere; or too many requests of the account wait.' },
      run: (call) => {
        const { request } = call.query;
        return answer(call, (environment) =>
          request === undefined ? lastBuild(environment) : buildOfRequest(environment, request),
        );
      },
    }),
    endpoint({
      method: 'get',
      path: `${path}/build/{number}`,
      summary: 'A build by its number; waits for its end (ours)',
      find: (caller, parameters) => ({ ...find(caller, parameters), number: buildNumber(parameters.number) }),
      writes: false,
      query: waitQuery,
      answer: buildViewSchema,
      also: { 429: 'As elsewhere; or too many requests of the account wait.' },
      run: (call) =>
        answer(call, (environment) => {
          const build = numberedBuild(environment, call.target.number);
          if (!build) throw new NotFound('no such build, or it is not kept any more');
          return build;
        }),
    }),
  ];
}

function buildNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new NotFound('no such build, or it is not kept any more');
  return Number(text);
}

function lastBuild(environment: Environment): BuildView {
  const build = currentBuildView(environment);
  if (!build) throw new NotFound('no build was requested yet');
  return build;
}

function buildOfRequest(environment: Environment, request: string): BuildView {
  const build = requestedBuild(environment, request);
  if (build === 'unknown') throw new NotFound('the environment has no build request of this id');
  if (build === 'forgotten') throw new NotFound('the build of this request is not kept any more');
  return build;
}

/** Woken by the watch; ends also with the environment, the time, the connection and the server. */
async function untilOver(
  cache: BuildRoutes['cache'],
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
