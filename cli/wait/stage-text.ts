import type { BuildView, ListedEnvironment } from '../api/types.ts';

type Waited = Pick<ListedEnvironment, 'id' | 'status' | 'health' | 'problem' | 'build' | 'services'>;

/** Returns the current activity of an environment, in one line. */
export function stageText({ id, status, problem, build, services }: Waited): string {
  const why = problem ? ` (${problem.reason}: ${problem.message})` : '';
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
