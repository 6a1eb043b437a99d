import type { BuildView } from '../api/types.ts';

export interface Segment {
  name: string;
  /** Offset and width in percent of the whole bar. */
  start: number;
  width: number;
  seconds: number;
  isRunning: boolean;
}

/** The smallest visible width in percent. */
const minWidth = 0.6;

/**
 * Returns the stages of a build as segments of a bar that spans the build; a running build spans until now.
 * @param now in Unix seconds
 */
export function segmentsOf({ stages = [], startedAt, duration }: BuildView, now: number): Segment[] {
  const start = stages[0]?.startedAt ?? startedAt ?? now;
  const end = Math.max(duration === undefined ? now : (startedAt ?? start) + duration, ...stages.map(endOf));
  const total = Math.max(end - start, 0.001);
  return stages.map((stage) => {
    const isRunning = stage.duration === undefined && duration === undefined;
    const seconds = Math.max(0, (isRunning ? end : endOf(stage)) - stage.startedAt);
    return {
      name: stage.name,
      start: Math.min((100 * (stage.startedAt - start)) / total, 100 - minWidth),
      width: Math.max((100 * seconds) / total, minWidth),
      seconds,
      isRunning,
    };
  });
}

function endOf({ startedAt, duration = 0 }: { startedAt: number; duration?: number }): number {
  return startedAt + duration;
}

/** Returns how long a build took or has been running, in seconds; undefined before it starts. */
export function secondsOf({ startedAt, duration }: BuildView, now: number): number | undefined {
  if (startedAt === undefined) return undefined;
  return duration ?? Math.max(0, now - startedAt);
}
