import { createMask } from '../../build-logs/mask.ts';
import { textsToMask } from '../../build-logs/mask-candidates.ts';
import { Stalled, Waiting } from '../errors.ts';
import type { RepositoryConfiguration } from '../repository/configuration.ts';
import type { RolloutProgress } from '../workloads/progress.ts';
import type { Planning } from './planning.ts';
import type { EnvironmentScope } from './scope.ts';
import type { Version } from './version.ts';

/** Gives a text without the secrets in it. */
export type Mask = (text: string) => string;

/** A mask takes some MiB where there are many secrets. */
const MAX_MASKS = 16;

/** Hides an environment's secrets in what its containers have said: that goes into statuses, which more people read. */
export class Masking {
  readonly #planning: Pick<Planning, 'lookUpRepository' | 'find'>;
  /** The masks that were made last, by an Environment's UID: it is looked at again and again while it is waited for. */
  readonly #made = new Map<string, { secrets: readonly string[]; mask: Mask }>();

  constructor(planning: Pick<Planning, 'lookUpRepository' | 'find'>) {
    this.#planning = planning;
  }

  /** Where the secrets are not known, such as after the Repository was deleted, nothing of the text is told. */
  async maskFor(scope: EnvironmentScope, version: Version | undefined): Promise<Mask> {
    try {
      await this.#planning.lookUpRepository(scope);
    } catch (error) {
      if (!(error instanceof Stalled) && !(error instanceof Waiting)) throw error;
      return (text) => (text === error.message ? text : `not shown, secrets in it are not known: ${error.message}`);
    }
    const secrets = secretsOf(scope.configuration, version);
    const made = this.#made.get(scope.uid);
    if (made && isSame(made.secrets, secrets)) return made.mask;
    const mask = createMask(secrets);
    this.#made.delete(scope.uid);
    this.#made.set(scope.uid, { secrets, mask });
    const [oldest] = this.#made.keys();
    if (this.#made.size > MAX_MASKS && oldest !== undefined) this.#made.delete(oldest);
    return mask;
  }

  /** What the user must see to, without the secrets of the version that is named by its id. */
  async stalled(scope: EnvironmentScope, versionId: string | undefined, error: Stalled): Promise<Stalled> {
    const mask = await this.maskFor(scope, await this.#planning.find(scope, versionId));
    return new Stalled(error.reason, mask(error.message), { cause: error.cause });
  }

  async progress(scope: EnvironmentScope, version: Version, progress: RolloutProgress): Promise<RolloutProgress> {
    const { services, waitingFor, failures } = progress;
    if (services.every(({ message }) => message === undefined) && waitingFor.length + failures.length === 0) {
      return progress;
    }
    const mask = await this.maskFor(scope, version);
    const told = (text: string) => text.replace(/(?<=^[^:]*: ).*$/s, mask);
    return {
      ...progress,
      services: services.map((service) =>
        service.message === undefined ? service : { ...service, message: mask(service.message) },
      ),
      waitingFor: waitingFor.map(told),
      failures: failures.map(told),
    };
  }
}

/**
 * What neither the log of a build nor a status may show: the password for Git, what the service file names as a secret,
 * and of the variables those that are marked as secret or look like one.
 */
export function secretsOf(configuration: RepositoryConfiguration | undefined, version: Version | undefined): string[] {
  const { credentials } = configuration?.host.access ?? {};
  return [
    ...(credentials ? [credentials.password] : []),
    ...textsToMask([...(configuration?.variables.values() ?? [])]),
    ...(version?.secrets ?? []),
  ];
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one, index) => one === others[index]);
}
