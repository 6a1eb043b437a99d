import { mergeConditions, findCondition, type ConditionReport } from '../../crds/conditions.ts';
import { environmentSchema, type Environment, type FeedbackStatus } from '../../crds/environment.ts';
import type { Repository } from '../../crds/repository.ts';
import { isNotFound } from '../../kubernetes/api-error.ts';
import type { ReconcileResult } from '../../kubernetes/controller.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import { objectKey } from '../../kubernetes/resource-type.ts';
import { refIndexValue } from '../caches.ts';
import { Waiting } from '../errors.ts';
import { REPORTED } from '../environment/status-parts.ts';
import type { GitHosts } from '../hosts/git-hosts.ts';
import type { CommitStatus, GitHost } from '../hosts/host.ts';
import { KeyedLock } from '../keyed-lock.ts';
import { parseObject } from '../parse-object.ts';
import { HostBusyError, SourceRefusedError } from '../source/errors.ts';
import type { StatusWriter } from '../status-writer.ts';
import { dueFeedback, type Step } from './due.ts';
import { hashOfValue } from './hash.ts';

export interface FeedbackParts {
  environments: Pick<Informer<Environment>, 'get' | 'byIndex'>;
  repositories: Pick<Informer<Repository>, 'get'>;
  hosts: Pick<GitHosts, 'of'>;
  /** Writes `feedback` and the condition `Reported`, and nothing else. */
  statuses: Pick<StatusWriter<Environment>, 'write'>;
  /** Where the API answers. */
  apiUrl: URL;
  now: () => Date;
}

interface Refusal {
  step: Step;
  error: SourceRefusedError;
}

interface Told {
  told: FeedbackStatus;
  refusals: readonly Refusal[];
}

/** Tells the Git host how an Environment's builds go: a commit's status, and a comment on a pull request. */
export class FeedbackReconciler {
  readonly #parts: FeedbackParts;
  /** By ref: environments of one pull request share its comment, and the next one sees what was recorded of it. */
  readonly #lock = new KeyedLock();

  constructor(parts: FeedbackParts) {
    this.#parts = parts;
  }

  /** Throws Waiting where the host asks for patience; what it refuses is told in the status and not tried again. */
  async reconcile(key: string): Promise<ReconcileResult> {
    const found = this.#parts.environments.get(key);
    if (found) await this.#lock.run(refIndexValue(found), () => this.#report(key));
    return {};
  }

  async #report(key: string): Promise<void> {
    const { environments, repositories, hosts, apiUrl } = this.#parts;
    const found = environments.get(key);
    if (!found) return;
    const { object: environment, problem } = parseObject(environmentSchema, found);
    const repository = repositories.get(objectKey(found.metadata.namespace, found.spec.repository));
    if (problem || !repository || !takesFeedback(repository)) return;
    const steps = dueFeedback(environment, environments.byIndex('ref', refIndexValue(environment)), apiUrl);
    const { refused, ...recorded } = environment.status?.feedback ?? {};
    if (steps.length === 0 || refused === attemptAt(steps, repository)) return;
    const { told, refusals } = await this.#tell(environment, recorded, await hosts.of(repository), steps);
    const [first] = refusals;
    if (first) {
      const again = attemptAt(
        refusals.map(({ step }) => step),
        repository,
      );
      await this.#write(environment, { ...told, refused: again }, refusedReport(first.error));
    } else if ([told.status, told.comment, told.tests].some((one) => one !== undefined)) {
      await this.#write(environment, told, reported(told));
    }
  }

  /** Takes each step by itself: who may not do one may do the other. What was told stays so when a later one throws. */
  async #tell(
    environment: Environment,
    recorded: FeedbackStatus,
    host: GitHost,
    steps: readonly Step[],
  ): Promise<Told> {
    const told = { ...recorded };
    const refusals: Refusal[] = [];
    for (const step of steps) {
      try {
        Object.assign(told, await tell(host, step));
      } catch (error) {
        if (error instanceof SourceRefusedError) {
          refusals.push({ step, error });
          continue;
        }
        await this.#write(environment, told, undefined);
        if (!(error instanceof HostBusyError)) throw error;
        throw new Waiting('HostBusy', error.message, error.retryAfterMs, { cause: error });
      }
    }
    return { told, refusals };
  }

  async #write(environment: Environment, feedback: FeedbackStatus, report: ConditionReport | undefined): Promise<void> {
    const { statuses, now } = this.#parts;
    const { status, metadata } = environment;
    const before = findCondition(status?.conditions, REPORTED);
    const conditions = mergeConditions(before ? [before] : [], report ? [report] : [], metadata.generation ?? 0, now());
    const wanted = Object.keys(feedback).length > 0 ? { feedback, conditions } : { conditions };
    await statuses.write(environment, wanted).catch((error: unknown) => {
      // It has gone in the meantime.
      if (!isNotFound(error)) throw error;
    });
  }
}

/** Of a server that is nothing but Git nobody can be told anything. */
export function takesFeedback({ spec }: Pick<Repository, 'spec'>): boolean {
  return spec.type !== 'generic';
}

/** What is recorded of it; nothing where the host has no such thing. */
async function tell(host: GitHost, step: Step): Promise<FeedbackStatus> {
  if (step.kind !== 'comment') {
    const { commit, status, hash } = step;
    return (await host.setStatus(commit, status)) ? toldStatus(step.kind, commit, status, hash) : {};
  }
  const commentId = await host.comment(step.place, step.body);
  return commentId === undefined ? {} : { commentId, comment: step.hash };
}

function toldStatus(
  kind: 'status' | 'tests',
  commit: string,
  { state }: CommitStatus,
  hash: string,
): Pick<FeedbackStatus, 'commit' | 'state' | 'status' | 'tests'> {
  return kind === 'tests' ? { tests: { commit, state, hash } } : { commit, state, status: hash };
}

/** By this it is known again what was refused, of which Repository: another token is a change of that. */
function attemptAt(steps: readonly Step[], { metadata }: Repository): string {
  return hashOfValue([steps, metadata.generation]);
}

function refusedReport({ reason, message }: SourceRefusedError): ConditionReport {
  const words = `the Git host does not take the result: ${message}; see to it, the next build is reported again`;
  return { type: REPORTED, status: 'False', reason, message: words };
}

function reported({ commit, state, comment, tests }: FeedbackStatus): ConditionReport {
  const shown = [
    ...(state && commit !== undefined ? [`${state} for ${commit.slice(0, 12)}`] : []),
    ...(comment === undefined ? [] : ['a comment on the pull request']),
    ...(tests ? [`tests: ${tests.state} for ${tests.commit.slice(0, 12)}`] : []),
  ];
  return { type: REPORTED, status: 'True', reason: 'Reported', message: `the Git host shows ${shown.join(' and ')}` };
}
