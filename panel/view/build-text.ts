import type { BuildView, EnvironmentView } from '../api/types.ts';
import { shortCommit } from './short-commit.ts';

const triggers: Record<NonNullable<BuildView['trigger']>, string> = {
  create: 'with its contents',
  build: 'on request',
  commit: 'by a new commit',
  rebuild: 'by a rebuild request',
  schedule: 'by the schedule',
  recovery: 'because contents were lost',
};

/** Returns why a build started: `started by a new commit`. */
export function startText(trigger: NonNullable<BuildView['trigger']>): string {
  return `started ${triggers[trigger]}`;
}

/** Returns what a row says about a build: the subject of its commit and its author, or why there is none. */
export function buildSubject({ subject, author, commit, trigger }: BuildView): string {
  if (subject !== undefined) return author === undefined ? subject : `${subject} · ${author}`;
  if (trigger === undefined) return '';
  return commit === undefined ? `${startText(trigger)}; its commit was not read` : startText(trigger);
}

/** Returns which build runs after one that failed; undefined if the last one did not fail. */
export function afterFailure({
  build,
  deployedBuild,
  commit,
  services,
}: Pick<EnvironmentView, 'build' | 'deployedBuild' | 'commit' | 'services'>): string | undefined {
  if (build?.result !== 'failed') return undefined;
  const failed = `${buildName(build.number, build.commit)} failed`;
  if (deployedBuild === undefined || deployedBuild === build.number) return `${failed}. No earlier build runs.`;
  const former = buildName(deployedBuild, commit).toLowerCase();
  // The rollout replaces services before they are known to run.
  if (build.stages?.some(({ name }) => name === 'rollout') !== true) return `${failed}; ${former} keeps running.`;
  const isBack = services.every(({ ready }) => ready);
  return `${failed} while services started; they ${isBack ? 'were' : 'are being'} rolled back to ${former}.`;
}

function buildName(number: number | undefined, commit: string | undefined): string {
  const name = number === undefined ? 'The build' : `Build ${number}`;
  return commit === undefined ? name : `${name} (${commit.slice(0, shortCommit)})`;
}
