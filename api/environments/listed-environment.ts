import { z } from 'zod';
import { ENVIRONMENT_STATES, type Environment } from '../../crds/environment.ts';
import type { BuildStatus } from '../../crds/environment-build.ts';
import { idOf } from '../../crds/ids.ts';
import { healthSchema, problemSchema } from '../http/health-view.ts';
import { buildViewSchema, currentBuildView, type BuildView } from './build-view.ts';
import { expiryOf } from './contents.ts';
import { environmentCommit, environmentHead } from './environment-view.ts';
import { asleepField, deployedBuildField, gitRefViewSchema, removingField } from './environment-view-schema.ts';
import { unixSecondsOf } from '../shared/unix-seconds.ts';

/** Longest message of a build in a list. */
const maxBuildMessage = 200;

/** An environment in lists and in the change stream. */
export const listedEnvironmentSchema = z
  .object({
    id: z.string(),
    rid: z.string().meta({ description: 'The id of its repository.' }),
    gid: z.string().meta({ description: 'The id of its group.' }),
    version: z.int().meta({ description: 'Grows with each change of the object.' }),
    name: z.string(),
    gitRef: gitRefViewSchema,
    status: z.enum(ENVIRONMENT_STATES).meta({ description: 'As in the environment itself.' }),
    health: healthSchema,
    problem: problemSchema.optional(),
    asleep: asleepField,
    removing: removingField,
    deployedBuild: deployedBuildField,
    weburl: z.string().optional(),
    commit: z.string().optional(),
    author: z.string().optional().meta({ description: 'Author of the commit.' }),
    subject: z.string().optional().meta({ description: "First line of the commit's message." }),
    build: buildViewSchema.optional(),
    services: z.object({ ready: z.int(), total: z.int(), restarts: z.int() }),
    createdAt: z.int(),
    builtAt: z.int().meta({ description: 'When the deployed build finished; 0 if none is deployed.' }),
    expiresAt: z.int().optional(),
    deleting: z.literal(true).optional(),
  })
  .meta({ id: 'ListedEnvironment', description: 'Times are Unix seconds.' });
export type ListedEnvironment = z.infer<typeof listedEnvironmentSchema>;

/** Returns an environment as lists and the change stream show it. */
export function listedEnvironment(environment: Environment): ListedEnvironment {
  const { metadata, status } = environment;
  const commit = environmentCommit(environment);
  const build = currentBuildView(environment);
  const expiresAt = expiryOf(environment);
  return {
    ...environmentHead(environment, idOf(environment).group),
    ...(status?.webURL !== undefined && { weburl: status.webURL }),
    ...(commit !== undefined && { commit }),
    ...commitTexts(commit, [status?.deployed, status?.build]),
    ...(build && { build: listedBuild(build) }),
    services: serviceCounts(status?.services ?? []),
    createdAt: unixSecondsOf(metadata.creationTimestamp),
    builtAt: unixSecondsOf(status?.deployed?.finishedAt),
    ...(expiresAt !== undefined && { expiresAt: unixSecondsOf(expiresAt) }),
    ...(metadata.deletionTimestamp !== undefined && { deleting: true as const }),
  };
}

/** Returns the texts of the commit, from a build of it. */
export function commitTexts(
  commit: string | undefined,
  builds: readonly (Pick<BuildStatus, 'commit' | 'author' | 'subject'> | undefined)[],
): Pick<ListedEnvironment, 'author' | 'subject'> {
  const { author, subject } = builds.find((build) => commit !== undefined && build?.commit === commit) ?? {};
  return { ...(author !== undefined && { author }), ...(subject !== undefined && { subject }) };
}

/** With a short message: the build itself has all of it. */
function listedBuild({ message, ...build }: BuildView): BuildView {
  return message === undefined ? build : { ...build, message: message.slice(0, maxBuildMessage).toWellFormed() };
}

function serviceCounts(services: NonNullable<NonNullable<Environment['status']>['services']>) {
  return {
    ready: services.filter(({ ready }) => ready).length,
    total: services.length,
    restarts: services.reduce((sum, { restarts = 0 }) => sum + restarts, 0),
  };
}
