import type { BuildView, ListedEnvironment } from '../api/types.ts';

type Waited = Pick<ListedEnvironment, 'id' | 'status' | 'health' | 'problem' | 'build' | 'services'>;

/** Returns the current activity of an environment, in one line. */
export function stageText({ id, status, health, problem, build, services }: Waited): string {
  // The error at the end of the wait contains the message of a failure.
  const hasFailed = health === 'failed' || build?.result === 'failed';
  const why = problem ? ` (${problem.reason}${hasFailed ? '' : `: ${problem.message}`})` : '';
  if (status !== 'building') return `${id}: ${status}${why}`;
  return `${id}: ${buildText(build, services)}${why}`;
}

function buildText(build: BuildView | undefined, { ready, total }: Waited['services']): string {
  if (!build) return 'waiting';
  const name = `build${build.number === undefined ? '' : ` ${build.number}`}`;
  if (build.result === 'pending') return `${name} waits`;
  if (build.result !== 'running') return `${name} ${build.result}`;
  const stage = build.stages?.findLast(({ duration }) => duration === undefined)?.name;
  return stage === 'rollout' ? `${name} starts services, ${ready} of ${total} ready` : `${name} builds images`;
}
