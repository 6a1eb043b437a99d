import { createMask } from '../../../../build-logs/mask.ts';
import { Stalled, Waiting } from '../../../shared/errors.ts';
import type { RolloutProgress } from '../../../services/rollout/progress.ts';
import type { RevisionPlanner } from '../revision/revision-planner.ts';
import type { EnvironmentScope } from '../scope/scope.ts';
import type { Revision } from '../revision/revision.ts';

/** Returns a text without the secrets in it. */
export type Mask = (text: string) => string;

const maxMasks = 16;
/** A mask can take 160 bytes for each character of its secrets. */
const maxCharacters = 512 * 1024;

/**
 * Masks an environment's secrets in the output of its containers before it is written into statuses, which more people
 * can read.
 */
export class Masking {
  readonly #planner: Pick<RevisionPlanner, 'find'>;
  /** Recently used masks by the Environment's UID: it is reconciled often while it is waited for. */
  readonly #made = new Map<string, { secrets: readonly string[]; mask: Mask }>();
  /** Number of characters of the secrets of `#made`. */
  #characters = 0;

  constructor(planner: Pick<RevisionPlanner, 'find'>) {
    this.#planner = planner;
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
    const secrets = scope.secrets(revision);
    const made = this.#made.get(scope.uid);
    if (made && isSame(made.secrets, secrets)) return made.mask;
    const mask = createMask(secrets);
    this.#forget(scope.uid);
    const characters = lengthOf(secrets);
    for (const uid of this.#made.keys()) {
      if (this.#made.size < maxMasks && this.#characters + characters <= maxCharacters) break;
      this.#forget(uid);
    }
    this.#made.set(scope.uid, { secrets, mask });
    this.#characters += characters;
    return mask;
  }

  #forget(uid: string): void {
    this.#characters -= lengthOf(this.#made.get(uid)?.secrets ?? []);
    this.#made.delete(uid);
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

function lengthOf(secrets: readonly string[]): number {
  return secrets.reduce((sum, { length }) => sum + length, 0);
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one, index) => one === others[index]);
}
