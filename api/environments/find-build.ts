import type { Environment } from '../../crds/environment.ts';
import { NotFound } from '../shared/errors.ts';
import { NO_BUILD_YET } from '../shared/messages.ts';
import { currentBuildView, requestedBuild, type BuildView } from './build-view.ts';

/** Returns the build that a request started or joined; without one, the current build. @throws NotFound */
export function findBuild(environment: Environment, request: string | undefined): BuildView {
  return request === undefined ? lastBuild(environment) : buildOfRequest(environment, request);
}

function lastBuild(environment: Environment): BuildView {
  const build = currentBuildView(environment);
  if (!build) throw new NotFound(NO_BUILD_YET);
  return build;
}

function buildOfRequest(environment: Environment, request: string): BuildView {
  const build = requestedBuild(environment, request);
  if (build === 'unknown')
    throw new NotFound(
      'the environment has no build request of this id. Send the id that the response to the request contains',
    );
  if (build === 'forgotten')
    throw new NotFound('the build of this request is no longer kept. GET …/builds lists those that are kept');
  return build;
}
