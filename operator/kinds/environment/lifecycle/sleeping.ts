import type { EnvironmentStatus } from '../../../../crds/environment.ts';
import { requestAnnotation, requestTime, TEST_REQUEST } from '../../../../crds/requests.ts';
import type { SleepSettings } from '../../../../crds/sleep.ts';
import type { OpenConnections } from '../../../services/front/open-connections.ts';
import type { ConditionChange } from '../scope/contribution.ts';
import type { PhaseResult } from '../scope/phase.ts';
import type { EnvironmentScope } from '../scope/scope.ts';
import type { Publishing } from '../volumes/publishing.ts';
import { decideSleep, keptAwake, requestedSleep, type SleepDecision } from './sleep.ts';
import type { VisitLog } from './visit-log.ts';

export interface SleepingOptions {
  settingsOf: (scope: EnvironmentScope) => SleepSettings;
  publishing: Pick<Publishing, 'isUnderWay'>;
  visits: Pick<VisitLog, 'take'>;
  connections: Pick<OpenConnections, 'of'>;
  /** Whether a waker is ready to watch for visits. */
  hasWaker: () => boolean;
}

type SleepResult = PhaseResult<'sleep' | 'handledRequests', 'Asleep'>;

/** When to read again whether somebody is connected, in milliseconds, if it cannot be read. */
const unknownMs = 30_000;

/** Decides when an environment sleeps and wakes. */
export class Sleeping {
  readonly #options: SleepingOptions;

  constructor(options: SleepingOptions) {
    this.#options = options;
  }

  /** Handles requests to sleep and to wake. They wait for nothing, so they precede the other decisions. */
  handleRequests({ environment, status, now }: EnvironmentScope): SleepResult {
    const { sleep, handledRequests } = requestedSleep(environment.metadata.annotations, status, now);
    if (handledRequests === status.handledRequests) return {};
    return { status: { sleep, handledRequests }, write: true };
  }

  /** Decides by the settings, the time, the builds and the visits. */
  async decide(scope: EnvironmentScope): Promise<SleepResult> {
    const { status, now } = scope;
    const { sleep, next } = await this.#decide(scope);
    return {
      status: { sleep },
      conditions: { Asleep: asleepCondition(sleep) },
      // Services are stopped or started only by a recorded decision.
      write: sleep !== status.sleep,
      ...(next && { requeueAfterMs: Math.max(next.getTime() - now.getTime(), 1) }),
    };
  }

  async #decide(scope: EnvironmentScope): Promise<SleepDecision> {
    const { publishing, settingsOf, visits, connections, hasWaker } = this.#options;
    const { status, now } = scope;
    const settings = settingsOf(scope);
    const isPublic = status.services?.some(({ addresses = [] }) => addresses.length > 0) === true;
    const decision = decideSleep({
      ...{ settings, status, now },
      isBusy: publishing.isUnderWay(scope),
      isTested: isTested(status),
      testsRequestedAt: testsRequestedAt(scope),
      visit: visits.take(scope.key),
      canWatch: isPublic && hasWaker(),
    });
    if (decision.isConditional !== true) return decision;
    const found = await connections.of(scope.namespace);
    if (found === 'none') return decision;
    if (found === 'open') return keptAwake(status.sleep, settings, now);
    return { sleep: status.sleep, next: new Date(now.getTime() + unknownMs) };
  }
}

function isTested({ tests }: Pick<EnvironmentStatus, 'tests'>): boolean {
  return tests?.runs.some(({ outcome }) => outcome === 'pending' || outcome === 'running') === true;
}

/** Returns when the tests were requested that have not been started, in Unix milliseconds. */
function testsRequestedAt({ environment, status }: EnvironmentScope): number | undefined {
  const value = environment.metadata.annotations?.[requestAnnotation(TEST_REQUEST)];
  if (status.deployed?.tests === undefined || value === status.tests?.request) return undefined;
  return requestTime(value);
}

const messages = {
  Requested: 'as requested',
  Idle: 'because nobody visited it',
  OutsideWorkingHours: 'outside of its working hours',
  WorkingHours: 'in its working hours',
  Visited: 'by a visit',
  Build: 'by a build',
} as const;

function asleepCondition(sleep: SleepDecision['sleep']): ConditionChange {
  if (!sleep) return undefined;
  const { asleep, reason } = sleep;
  const state = asleep ? 'the services are stopped' : 'the environment was last kept awake';
  return { status: asleep ? 'True' : 'False', reason, message: `${state} ${messages[reason]}` };
}
