import { findCondition } from '../../../crds/conditions.ts';
import type { Environment } from '../../../crds/environment.ts';
import type { BuildStatus } from '../../../crds/environment-build.ts';

export interface BuildStarted {
  transition: 'started';
  number: number;
}

export interface BuildEnded {
  transition: 'ended';
  number: number;
  result: Exclude<BuildStatus['result'], 'running'>;
  /** Reason of the condition Built: why the build failed. */
  reason: string;
  seconds: number;
  /** Durations of the completed stages. */
  stages: { stage: 'images' | 'rollout'; seconds: number }[];
}

/** Returns how an Environment's builds changed between `old` and `now`: at most one ends and one starts. */
export function buildTransitions(old: Environment, now: Environment): (BuildStarted | BuildEnded)[] {
  const before = old.status?.build;
  const after = now.status?.build;
  if (!after || (before?.number === after.number && before.result === after.result)) return [];
  const started: BuildStarted[] =
    before?.number === after.number ? [] : [{ transition: 'started', number: after.number }];
  return after.result === 'running' ? started : [...started, ended(now, after, after.result)];
}

function ended(environment: Environment, build: BuildStatus, result: BuildEnded['result']): BuildEnded {
  const { startedAt, rolloutStartedAt, finishedAt = startedAt } = build;
  const stages: BuildEnded['stages'] = [
    { stage: 'images', seconds: between(startedAt, rolloutStartedAt ?? finishedAt) },
  ];
  if (rolloutStartedAt !== undefined) stages.push({ stage: 'rollout', seconds: between(rolloutStartedAt, finishedAt) });
  const reason = findCondition(environment.status?.conditions, 'Built')?.reason ?? '';
  return { transition: 'ended', number: build.number, result, reason, seconds: between(startedAt, finishedAt), stages };
}

function between(from: string, to: string): number {
  return Math.max(0, (Date.parse(to) - Date.parse(from)) / 1000);
}
