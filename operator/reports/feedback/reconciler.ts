import { mergeConditions, findCondition, type ConditionReport } from '../../../crds/conditions.ts';
import { environmentSchema, type Environment, type FeedbackStatus } from '../../../crds/environment.ts';
import type { Repository } from '../../../crds/repository.ts';
import { isNotFound } from '../../../kubernetes/api-error.ts';
import type { ReconcileResult } from '../../../kubernetes/controller.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import { objectKey } from '../../../kubernetes/resource-type.ts';
import { refIndexValue } from '../../shared/environment-keys.ts';
import { Waiting } from '../../shared/errors.ts';
import { REPORTED } from '../../kinds/environment/status/status-parts.ts';
import type { GitHosts } from '../../source/hosts/git-hosts.ts';
import type { CommitStatus, GitHost } from '../../source/hosts/host.ts';
import { KeyedLock } from '../../shared/keyed-lock.ts';
import { parseObject } from '../../shared/parse-object.ts';
import { HostBusyError, SourceRefusedError } from '../../source/errors.ts';
import type { StatusWriter } from '../../shared/status-writer.ts';
import { dueFeedback } from './due.ts';
import type { Step } from './step.ts';
import { hashOfValue } from './hash.ts';

export interface FeedbackReconcilerOptions {
  environments: Pick<Informer<Environment>, 'get' | 'byIndex'>;
  repositories: Pick<Informer<Repository>, 'get'>;
  hosts: Pick<GitHosts, 'of'>;
  /** Writes only the status field `feedback` and the condition `Reported`. */
  statuses: Pick<StatusWriter<Environment>, 'write'>;
  /** URL of the API. */
  apiUrl: URL;
  now: () => Date;
}

interface Refusal {
  step: Step;
  error: SourceRefusedError;
}

interface Reported {
  reported: FeedbackStatus;
  refusals: readonly Refusal[];
}

/** Reports an Environment's builds to the Git host: commit statuses, and a comment on the pull request. */
export class FeedbackReconciler {
  readonly #options: FeedbackReconcilerOptions;
  /** By ref: environments of one pull request share a comment, so each must see what the previous one recorded. */
  readonly #lock = new KeyedLock();

  constructor(options: FeedbackReconcilerOptions) {
    this.#options = options;
  }

  /**
   * Reports what is due. Throws Waiting while the host limits requests; a refusal is recorded in the status and not
   * retried.
   */
  async reconcile(key: string): Promise<ReconcileResult> {
    const found = this.#options.environments.get(key);
    if (found) await this.#lock.run(refIndexValue(found), () => this.#reconcileFeedback(key));
    return {};
  }

  async #reconcileFeedback(key: string): Promise<void> {
    const { environments, repositories, hosts, apiUrl } = this.#options;
    const found = environments.get(key);
    if (!found) return;
    const { object: environment, problem } = parseObject(environmentSchema, found);
    const repository = repositories.get(objectKey(found.metadata.namespace, found.spec.repository));
    if (problem || !repository || !takesFeedback(repository)) return;
    const steps = dueFeedback(environment, environments.byIndex('ref', refIndexValue(environment)), apiUrl);
    const { refused, ...recorded } = environment.status?.feedback ?? {};
    if (steps.length === 0 || refused === attemptAt(steps, repository)) return;
    const { reported, refusals } = await this.#takeSteps(environment, recorded, await hosts.of(repository), steps);
    const [first] = refusals;
    if (first) {
      const again = attemptAt(
        refusals.map(({ step }) => step),
        repository,
      );
      await this.#write(environment, { ...reported, refused: again }, refusedReport(first.error));
    } else if ([reported.status, reported.comment, reported.tests].some((one) => one !== undefined)) {
      await this.#write(environment, reported, reportedCondition(reported));
    }
  }

  /**
   * Takes each step separately, because the host may permit one and refuse another. Records completed steps even if a
   * later one throws.
   */
  async #takeSteps(
    environment: Environment,
    recorded: FeedbackStatus,
    host: GitHost,
    steps: readonly Step[],
  ): Promise<Reported> {
    const reported = { ...recorded };
    const refusals: Refusal[] = [];
    for (const step of steps) {
      try {
        Object.assign(reported, await takeStep(host, step));
      } catch (error) {
        if (error instanceof SourceRefusedError) {
          refusals.push({ step, error });
          continue;
        }
        await this.#write(environment, reported, undefined);
        if (!(error instanceof HostBusyError)) throw error;
        throw new Waiting('HostBusy', error.message, error.retryAfterMs, { cause: error });
      }
    }
    return { reported, refusals };
  }

  async #write(environment: Environment, feedback: FeedbackStatus, report: ConditionReport | undefined): Promise<void> {
    const { statuses, now } = this.#options;
    const { status, metadata } = environment;
    const before = findCondition(status?.conditions, REPORTED);
    const conditions = mergeConditions(before ? [before] : [], report ? [report] : [], metadata.generation ?? 0, now());
    const wanted = Object.keys(feedback).length > 0 ? { feedback, conditions } : { conditions };
    await statuses.write(environment, wanted).catch((error: unknown) => {
      // The Environment has been deleted meanwhile.
      if (!isNotFound(error)) throw error;
    });
  }
}

/** Returns whether the host has commit statuses or comments; a plain Git server has none. */
export function takesFeedback({ spec }: Pick<Repository, 'spec'>): boolean {
  return spec.type !== 'generic';
}

/** Reports one step; returns what to record, or nothing if the host has no such feature. */
async function takeStep(host: GitHost, step: Step): Promise<FeedbackStatus> {
  if (step.kind !== 'comment') {
    const { commit, status, hash } = step;
    return (await host.setStatus(commit, status)) ? reportedStatus(step.kind, commit, status, hash) : {};
  }
  const commentId = await host.comment(step.location, step.body);
  return commentId === undefined ? {} : { commentId, comment: step.hash };
}

function reportedStatus(
  kind: 'status' | 'tests',
  commit: string,
  { state }: CommitStatus,
  hash: string,
): Pick<FeedbackStatus, 'commit' | 'state' | 'status' | 'tests'> {
  return kind === 'tests' ? { tests: { commit, state, hash } } : { commit, state, status: hash };
}

/**
 * Identifies the refused steps and the Repository's generation, so that a refusal is not repeated until the Repository
 * changes, for example its token.
 */
function attemptAt(steps: readonly Step[], { metadata }: Repository): string {
  return hashOfValue([steps, metadata.generation]);
}

function refusedReport({ reason, message }: SourceRefusedError): ConditionReport {
  const words = `the Git host rejected the result: ${message}. Correct this; the next build is reported again`;
  return { type: REPORTED, status: 'False', reason, message: words };
}

function reportedCondition({ commit, state, comment, tests }: FeedbackStatus): ConditionReport {
  const shown = [
    ...(state && commit !== undefined ? [`${state} for ${commit.slice(0, 12)}`] : []),
    ...(comment === undefined ? [] : ['a comment on the pull request']),
    ...(tests ? [`tests: ${tests.state} for ${tests.commit.slice(0, 12)}`] : []),
  ];
  return { type: REPORTED, status: 'True', reason: 'Reported', message: `the Git host shows ${shown.join(' and ')}` };
}
