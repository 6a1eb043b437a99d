import type { EnvironmentStatus } from '../../../../crds/environment.ts';
import { Stalled } from '../../../shared/errors.ts';
import type { BuildField, BuildRecorder } from '../build/build-recorder.ts';
import type { Masking } from '../status/masking.ts';
import { setUpFrom } from '../scope/contents.ts';
import { andThen, type PhaseResult, runPhases } from '../scope/phase.ts';
import { CommitRefused } from '../revision/plan-request.ts';
import type { RevisionPlanner } from '../revision/revision-planner.ts';
import type { EnvironmentScope } from '../scope/scope.ts';
import type { Seeding } from '../volumes/seeding.ts';
import type { Services } from './services.ts';

export interface SetUpOptions {
  planner: Pick<RevisionPlanner, 'plan'>;
  seeding: Pick<Seeding, 'advance' | 'breakOff'>;
  services: Pick<Services, 'setUp'>;
  masking: Pick<Masking, 'stalled'>;
  recorder: Pick<BuildRecorder, 'start' | 'fail'>;
}

type SetUpField = 'seed' | 'services' | 'aliases' | 'webURL' | 'commit' | 'repositories' | 'revision' | BuildField;
type SetUpCondition = 'Seeded' | 'Available' | 'Created' | 'Built';
type SetUpResult = PhaseResult<SetUpField, SetUpCondition>;

/** Plans the ref's newest commit and sets up its services in new contents, without running them. */
export class SetUp {
  readonly #options: SetUpOptions;

  constructor(options: SetUpOptions) {
    this.#options = options;
  }

  async run(scope: EnvironmentScope): Promise<SetUpResult> {
    if (scope.isSetUp) return {};
    const earlier = scope.earlierRefusal('Created');
    // An older Coppice reported a missing Repository here instead of waiting for it.
    const isStillRefused = earlier && earlier.reason !== 'RepositoryNotFound';
    if (isStillRefused && !scope.isBuildPending) throw new Stalled(earlier.reason, earlier.message);
    const { failure, ...result } = await runPhases([(current) => this.#setUp(current)], scope);
    if (failure === undefined) return { ...result, write: true };
    if (!(failure instanceof Stalled)) return { ...result, failure };
    return andThen(scope, result, (current) => this.#refuse(current, failure));
  }

  async #setUp(scope: EnvironmentScope): Promise<SetUpResult> {
    const { planner, services, seeding } = this.#options;
    const planned = await planner.plan(await scope.planRequest());
    return andThen<SetUpField, SetUpCondition>(
      scope,
      { observed: { planned } },
      (current) => seeding.advance(current, planned),
      (current) => services.setUp(current, planned),
      (current) => setUpFrom(current, planned),
    );
  }

  /** Records that nothing could be set up, and the requested build as failed. */
  async #refuse(scope: EnvironmentScope, refusal: Stalled): Promise<SetUpResult> {
    const { seeding, masking, recorder } = this.#options;
    const brokenOff = await seeding.breakOff(scope);
    const failure = await masking.stalled(scope, undefined, refusal);
    const { reason, message } = failure;
    const refused = {
      ...brokenOff,
      status: { ...brokenOff.status, ...includedOf(refusal) },
      conditions: { ...brokenOff.conditions, Created: { status: 'False', reason, message } },
    } as const;
    if (!scope.isBuildPending) return { ...refused, failure };
    return andThen<SetUpField, SetUpCondition>(
      scope,
      refused,
      (current) => recorder.start(current),
      (current) => recorder.fail(current, refusal, current.contributed.observed.planned?.commit),
      () => ({ failure }),
    );
  }
}

/** Returns the included repositories of a refused commit: a push to one of them can fix it. */
function includedOf(refusal: Stalled): Pick<EnvironmentStatus, 'repositories'> {
  if (!(refusal instanceof CommitRefused) || !refusal.repositories) return {};
  return { repositories: [...refusal.repositories] };
}
