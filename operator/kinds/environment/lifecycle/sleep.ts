import type { EnvironmentStatus } from '../../../../crds/environment.ts';
import type { BuildStatus } from '../../../../crds/environment-build.ts';
import { pendingRequests, type HandledRequests } from '../../../../crds/requests.ts';
import { VISIT_REQUEST_ID, type SleepSettings, type SleepStatus } from '../../../../crds/sleep.ts';
import { workingTime, type WorkingTime } from './working-hours.ts';

/** How long an environment stays awake without a visit outside of its working hours, in milliseconds. */
export const OFF_HOURS_MS = 15 * 60_000;
/**
 * Maximum time after a visit for which visitors are not watched for, in milliseconds: the longer it is, the fewer
 * requests take the way by the waker, and the later an environment sleeps.
 */
const maxUnwatchedMs = 10 * 60_000;
/**
 * Minimum of that time, in milliseconds: each change of who receives the visitors costs several writes, and visitors could
 * cause them all the time.
 */
const minUnwatchedMs = 15_000;

/** When to decide again while tests are running, in milliseconds. */
const testedCheckMs = 60_000;

type SleepFields = Pick<EnvironmentStatus, 'sleep' | 'handledRequests'>;

/** Returns the requests to sleep and to wake as handled. The newest one decides, unless nothing is deployed. */
export function requestedSleep(
  annotations: Record<string, string> | undefined,
  { sleep, handledRequests, deployed }: Pick<EnvironmentStatus, 'sleep' | 'handledRequests' | 'deployed'>,
  now: Date,
): SleepFields {
  const requests = pendingRequests(annotations, handledRequests).filter(
    ({ name }) => name === 'sleep' || name === 'wake',
  );
  const newest = requests.at(-1);
  if (!newest) return { sleep, handledRequests };
  const handled: HandledRequests = { ...handledRequests };
  for (const { name, value } of requests) handled[name] = value;
  if (!deployed) return { sleep, handledRequests: handled };
  const asleep = newest.name === 'sleep';
  // A request to wake keeps an awake environment awake; one to sleep does not restart the sleep.
  const isSame = asleep && sleep?.asleep === true;
  const reason = newest.value.split('/')[1] === VISIT_REQUEST_ID ? 'Visited' : 'Requested';
  return { sleep: isSame ? sleep : sleepAt(asleep, reason, now), handledRequests: handled };
}

export interface SleepInput {
  settings: SleepSettings;
  status: Pick<EnvironmentStatus, 'activation' | 'build' | 'deployed' | 'sleep'>;
  /** Whether the environment must stay awake: its volumes are being published. Its end is an event. */
  isBusy: boolean;
  /** Whether tests of it are running. Their end is not an event. */
  isTested?: boolean;
  /** When its tests were last requested, in Unix milliseconds; undefined if that is handled. */
  testsRequestedAt?: number | undefined;
  /** A visit that the status does not record. */
  visit?: Date | undefined;
  /** Whether the waker can watch for visits. Otherwise only the working hours put an environment to sleep. */
  canWatch: boolean;
  now: Date;
}

export interface SleepDecision {
  sleep: SleepStatus | undefined;
  /** When to decide again if nothing changes. */
  next: Date | undefined;
  /** Whether it sleeps only if no visitor is connected past the waker; otherwise keptAwake() is the decision. */
  isConditional?: true;
}

/** Decides whether an environment with a deployed build sleeps. */
export function decideSleep(input: SleepInput): SleepDecision {
  const { settings, status, now } = input;
  if (!status.deployed) return { sleep: undefined, next: undefined };
  const hours = settings.workingHours && workingTime(settings.workingHours, now);
  if (status.sleep?.asleep === true) return { sleep: asleepOrWoken(input, status.sleep, hours), next: hours?.until };
  const sleep = withVisit(status.sleep, input.visit);
  const idleMs = maxIdleMs(settings, hours);
  if (idleMs === Infinity) return { sleep: unwatched(sleep), next: hours?.until };
  // The end of a build or of a publication is an event of its own.
  if (isBuilding(status) || input.isBusy) return { sleep, next: undefined };
  if (input.isTested === true) return { sleep, next: new Date(now.getTime() + testedCheckMs) };
  const current = { ...status, sleep };
  const decided = input.canWatch ? watched(current, idleMs, hours, now) : unseen(current, idleMs, hours, now);
  return { ...decided, next: earlier(decided.next, hours?.until) };
}

/** Returns the decision for an environment that would sleep, but that visitors are connected to. */
export function keptAwake(sleep: SleepStatus | undefined, settings: SleepSettings, now: Date): SleepDecision {
  const hours = settings.workingHours && workingTime(settings.workingHours, now);
  const next = new Date(now.getTime() + maxIdleMs(settings, hours));
  return { sleep: sleep && { ...sleep, visitedAt: now.toISOString() }, next };
}

/** Decides while the waker can watch: as the CLOCK algorithm, by whether somebody came in a whole period. */
function watched(
  status: SleepInput['status'],
  idleMs: number,
  hours: WorkingTime | undefined,
  now: Date,
): SleepDecision {
  const { sleep } = status;
  const activity = lastActivity(status);
  if (sleep?.watchedSince === undefined) {
    const watchAt = new Date(activity + Math.max(minUnwatchedMs, Math.min(idleMs / 4, maxUnwatchedMs)));
    if (watchAt > now) return { sleep, next: watchAt };
    const awake = sleep ?? sleepAt(false, 'Build', new Date(activity));
    return { sleep: { ...awake, watchedSince: now.toISOString() }, next: new Date(now.getTime() + idleMs) };
  }
  const sleepsAt = new Date(Math.max(activity, Date.parse(sleep.watchedSince)) + idleMs);
  if (sleepsAt > now) return { sleep, next: sleepsAt };
  return { sleep: sleepAt(true, reasonOf(hours), now), next: undefined, isConditional: true };
}

/** Decides where no visit can be seen: only the working hours count. */
function unseen(
  status: SleepInput['status'],
  idleMs: number,
  hours: WorkingTime | undefined,
  now: Date,
): SleepDecision {
  const sleep = unwatched(status.sleep);
  if (hours?.isWorking !== false) return { sleep, next: undefined };
  const sleepsAt = new Date(lastActivity(status) + idleMs);
  if (sleepsAt > now) return { sleep, next: sleepsAt };
  return { sleep: sleepAt(true, reasonOf(hours), now), next: undefined };
}

function asleepOrWoken(
  { status, settings, testsRequestedAt, now }: SleepInput,
  sleep: SleepStatus,
  hours: WorkingTime | undefined,
): SleepStatus {
  // A request from before was there when the environment was put to sleep.
  if ((testsRequestedAt ?? 0) > Date.parse(sleep.since)) return sleepAt(false, 'Requested', now);
  if (wakesBy(status.build, sleep, settings)) return sleepAt(false, 'Build', now);
  // With a limit for the time without visits it would fall asleep again if nobody came.
  const wakesByHours = sleep.reason === 'OutsideWorkingHours' && (settings.afterSeconds ?? 0) === 0;
  return wakesByHours && hours?.isWorking !== false ? sleepAt(false, 'WorkingHours', now) : sleep;
}

/** Returns for how long an environment without visits stays awake now, in milliseconds. */
function maxIdleMs({ afterSeconds = 0 }: SleepSettings, hours: WorkingTime | undefined): number {
  const afterMs = afterSeconds > 0 ? afterSeconds * 1000 : Infinity;
  return hours?.isWorking === false ? Math.min(afterMs, OFF_HOURS_MS) : afterMs;
}

function reasonOf(hours: WorkingTime | undefined): SleepStatus['reason'] {
  return hours?.isWorking === false ? 'OutsideWorkingHours' : 'Idle';
}

function sleepAt(asleep: boolean, reason: SleepStatus['reason'], now: Date): SleepStatus {
  return { asleep, since: now.toISOString(), reason };
}

/** A visit ends the watch for some minutes: requests then reach the pods directly. */
function withVisit(sleep: SleepStatus | undefined, visit: Date | undefined): SleepStatus | undefined {
  if (!visit || sleep?.watchedSince === undefined || Date.parse(sleep.watchedSince) > visit.getTime()) return sleep;
  return { ...sleep, watchedSince: undefined, visitedAt: visit.toISOString() };
}

function unwatched(sleep: SleepStatus | undefined): SleepStatus | undefined {
  return sleep?.watchedSince === undefined ? sleep : { ...sleep, watchedSince: undefined };
}

/** Returns whether a build that started during the sleep ends it: builds of new commits only bring their images. */
function wakesBy(build: BuildStatus | undefined, { since }: SleepStatus, { wakeOnCommit }: SleepSettings): boolean {
  if (build?.result !== 'running' || Date.parse(build.startedAt) < Date.parse(since)) return false;
  return build.trigger !== 'commit' || wakeOnCommit === true;
}

function isBuilding({ activation, build }: SleepInput['status']): boolean {
  return build?.result === 'running' || activation?.buildPending === true;
}

/** Returns when the environment was last visited, woken or built, in Unix milliseconds. */
function lastActivity({ sleep, build, activation }: SleepInput['status']): number {
  const times = [sleep?.visitedAt, sleep?.since, build?.finishedAt, activation?.since];
  return Math.max(...times.flatMap((time) => (time === undefined ? [] : [Date.parse(time)])), 0);
}

function earlier(one: Date | undefined, other: Date | undefined): Date | undefined {
  if (!one || !other) return one ?? other;
  return one < other ? one : other;
}
