import type { BuildView, ListedEnvironment } from '../api/types.ts';
import { buildName } from '../output/build-name.ts';

type Waited = Pick<ListedEnvironment, 'id' | 'status' | 'health' | 'problem' | 'build' | 'services' | 'removing'>;

/** Returns the current activity of an environment, in one line. */
export function stageText({ id, status, health, problem, build, services, removing }: Waited): string {
  if (removing === true) return `${id}: deletes its contents`;
  // The error at the end of the wait contains the message of a failure.
  const hasFailed = health === 'failed' || build?.result === 'failed';
  const why = problem ? ` (${problem.reason}${hasFailed ? '' : `: ${problem.message}`})` : '';
  if (status !== 'building') return `${id}: ${health === 'progressing' ? (onTheWay[status] ?? status) : status}${why}`;
  return `${id}: ${buildText(build, services)}${why}`;
}

/** `created` is also what a command has just done. */
const onTheWay: Partial<Record<Waited['status'], string>> = {
  empty: 'its contents are being set up',
  created: 'its services are set up, and wait for a build',
};

function buildText(build: BuildView | undefined, { ready, total }: Waited['services']): string {
  if (!build) return 'waiting';
  const name = buildName(build.number);
  if (build.result === 'pending') return `${name} waits`;
  if (build.result !== 'running') return `${name} ${build.result}`;
  const stage = build.stages?.findLast(({ duration }) => duration === undefined)?.name;
  if (stage !== 'rollout' && build.commit === undefined) return `${name} reads the commit`;
  return stage === 'rollout' ? `${name} starts services, ${ready} of ${total} ready` : `${name} builds images`;
}
