import { createMask } from '../../build-logs/mask.ts';
import { Stalled, Waiting } from '../errors.ts';
import type { RepositoryConfiguration } from '../repository/configuration.ts';
import type { RolloutProgress } from '../workloads/progress.ts';
import type { Planning } from './planning.ts';
import type { EnvironmentScope } from './scope.ts';
import type { Version } from './version.ts';

/** Gives a text without the secrets in it. */
export type Mask = (text: string) => string;

/** Hides an environment's secrets in what its containers have said: that goes into statuses, which more people read. */
export class Masking {
  readonly #planning: Pick<Planning, 'lookUpRepository' | 'find'>;

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
    return createMask(secretsOf(scope.configuration, version));
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

/** What neither the log of a build nor a status may show. */
export function secretsOf(configuration: RepositoryConfiguration | undefined, version: Version | undefined): string[] {
  return [
    ...(configuration?.host.access.credentials ? [configuration.host.access.credentials.password] : []),
    ...[...(configuration?.variables.values() ?? [])].map(({ value }) => value),
    ...(version?.secrets ?? []),
  ];
}
