import { Stalled } from '../../../shared/errors.ts';
import { type PhaseResult, runPhases } from '../scope/phase.ts';
import type { RevisionPlanner } from '../revision/revision-planner.ts';
import type { Publishing } from '../volumes/publishing.ts';
import type { EnvironmentScope } from '../scope/scope.ts';
import type { Services } from './services.ts';

export interface KeepRunningOptions {
  planner: Pick<RevisionPlanner, 'find'>;
  publishing: Pick<Publishing, 'advance' | 'giveUp'>;
  services: Pick<Services, 'setUp' | 'rollOut' | 'stop' | 'prune'>;
}

const revisionUnknown =
  'the services were set up by another version of Coppice and are left unchanged. Request a build to update them';

/**
 * Outside a build: keeps what was last deployed running, or stopped while the environment sleeps; before the first build,
 * keeps the services set up.
 */
export class KeepRunning {
  readonly #options: KeepRunningOptions;

  constructor(options: KeepRunningOptions) {
    this.#options = options;
  }

  async run(
    scope: EnvironmentScope,
  ): Promise<PhaseResult<'publication' | 'services' | 'aliases', 'Published' | 'Available' | 'Asleep'>> {
    const { planner, services, publishing } = this.#options;
    if (scope.runningBuild) return {};
    const { deployed, revision: setUp } = scope.status;
    const revision = await planner.find(scope.location(), deployed?.revision ?? setUp);
    if (!revision) {
      const result = publishing.giveUp(scope);
      return deployed ? { ...result, failure: new Stalled('RevisionUnknown', revisionUnknown) } : result;
    }
    const prune = async (current: EnvironmentScope) => {
      await services.prune(current, revision, deployed);
      return {};
    };
    if (!deployed) return runPhases([(current) => services.setUp(current, revision), prune], scope);
    // Volumes are published once the services have started again, and so their jobs have run.
    if (scope.isAsleep) return runPhases([(current) => services.stop(current, revision, deployed), prune], scope);
    return runPhases(
      [
        (current) => publishing.advance(current, revision),
        (current) => services.rollOut(current, revision, deployed),
        prune,
      ],
      scope,
    );
  }
}
