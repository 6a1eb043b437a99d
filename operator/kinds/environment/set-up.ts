import { Stalled, userMustAct } from '../../shared/errors.ts';
import type { BuildPhase } from './build/build-phase.ts';
import type { Masking } from './status/masking.ts';
import type { PhaseResult } from './scope/phase.ts';
import type { RevisionPlanner } from './revision/revision-planner.ts';
import type { EnvironmentScope } from './scope/scope.ts';
import type { Seeding } from './volumes/seeding.ts';
import type { Services } from './services/services.ts';
import type { EnvironmentStatuses } from './status/statuses.ts';

export interface SetUpOptions {
  planner: Pick<RevisionPlanner, 'plan'>;
  seeding: Pick<Seeding, 'advance' | 'breakOff'>;
  services: Pick<Services, 'setUp'>;
  masking: Pick<Masking, 'stalled'>;
  builds: Pick<BuildPhase, 'start' | 'fail'>;
  statuses: Pick<EnvironmentStatuses, 'write'>;
}

/** Plans the ref's newest commit and sets up its services in new contents, without running them. */
export class SetUp {
  readonly #options: SetUpOptions;

  constructor(options: SetUpOptions) {
    this.#options = options;
  }

  async run(scope: EnvironmentScope): Promise<PhaseResult> {
    const { planner, services, seeding, statuses } = this.#options;
    if (scope.isSetUp) return {};
    const earlier = scope.earlierRefusal('Created');
    // An older Coppice reported a missing Repository here instead of waiting for it.
    const stands = earlier && earlier.reason !== 'RepositoryNotFound';
    if (stands && !scope.isBuildPending) throw new Stalled(earlier.reason, earlier.message);
    let commit: string | undefined;
    try {
      const revision = await planner.plan(await scope.planRequest());
      commit = revision.commit;
      await seeding.advance(scope, revision);
      await services.setUp(scope, revision);
      scope.planned(revision);
      await statuses.write(scope);
      return { planned: { revision: revision.id, commit } };
    } catch (cause) {
      const refusal = userMustAct(cause);
      throw refusal instanceof Stalled ? await this.#refuse(scope, refusal, commit) : refusal;
    }
  }

  /** Records that nothing could be set up, and the requested build as failed. */
  async #refuse(scope: EnvironmentScope, refusal: Stalled, commit: string | undefined): Promise<Stalled> {
    const { seeding, masking, builds } = this.#options;
    await seeding.breakOff(scope);
    const error = await masking.stalled(scope, undefined, refusal);
    scope.conditions.report('Created', 'False', error.reason, error.message);
    if (scope.isBuildPending) {
      await builds.start(scope);
      await builds.fail(scope, refusal, commit);
    }
    return error;
  }
}
