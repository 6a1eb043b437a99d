import { maskLines } from '../../../../build-logs/mask.ts';
import type { Masks } from '../../../../build-logs/masks.ts';
import { Stalled, Waiting } from '../../../shared/errors.ts';
import type { RolloutProgress } from '../../../services/rollout/progress.ts';
import type { RevisionPlanner } from '../revision/revision-planner.ts';
import type { EnvironmentScope } from '../scope/scope.ts';
import type { Revision } from '../revision/revision.ts';

/** Returns a text without the secrets in it. */
export type Mask = (text: string) => string;

/**
 * Masks an environment's secrets in the output of its containers before it is written into statuses, which more people
 * can read.
 */
export class Masking {
  readonly #planner: Pick<RevisionPlanner, 'find'>;
  readonly #masks: Pick<Masks, 'find'>;

  constructor(planner: Pick<RevisionPlanner, 'find'>, masks: Pick<Masks, 'find'>) {
    this.#planner = planner;
    this.#masks = masks;
  }

  /** If the secrets are unknown, for example after the Repository was deleted, the text is hidden entirely. */
  async maskFor(scope: EnvironmentScope, revision: Revision | undefined): Promise<Mask> {
    try {
      await scope.readConfiguration();
    } catch (error) {
      if (!(error instanceof Stalled) && !(error instanceof Waiting)) throw error;
      return (text) =>
        text === error.message ? text : `hidden because the secrets in it are unknown: ${error.message}`;
    }
    const mask = await this.#masks.find(`status ${scope.uid}`, scope.secrets(revision));
    return (text) => maskLines(mask, text);
  }

  /** Returns the failure without the secrets of the revision with that id. */
  async stalled(scope: EnvironmentScope, revisionId: string | undefined, error: Stalled): Promise<Stalled> {
    const mask = await this.maskFor(scope, await this.#planner.find(scope.location(), revisionId));
    return new Stalled(error.reason, mask(error.message), { cause: error.cause });
  }

  async progress(scope: EnvironmentScope, revision: Revision, progress: RolloutProgress): Promise<RolloutProgress> {
    const { services, waitingFor, failures } = progress;
    if (services.every(({ message }) => message === undefined) && waitingFor.length + failures.length === 0) {
      return progress;
    }
    const mask = await this.maskFor(scope, revision);
    const masked = (text: string) => text.replace(/(?<=^[^:]*: ).*$/s, mask);
    return {
      ...progress,
      services: services.map((service) =>
        service.message === undefined ? service : { ...service, message: mask(service.message) },
      ),
      waitingFor: waitingFor.map(masked),
      failures: failures.map(masked),
    };
  }
}
