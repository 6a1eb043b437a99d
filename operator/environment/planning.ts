import type { RepositoryConfigurations } from '../repository/configuration.ts';
import { HostBusyError, KeyNotAcceptedError, SourceRefusedError, SourceUnreachableError } from '../source/errors.ts';
import type { PlannedVersion, Planner } from './planner.ts';
import { retiredVersions } from './retired-versions.ts';
import type { EnvironmentScope } from './scope.ts';
import type { Version } from './version.ts';
import type { VersionStore } from './version-store.ts';

/** Which version an environment is at, or comes to: planned when it has to be, found where it was planned before. */
export class Planning {
  readonly #configurations: RepositoryConfigurations;
  readonly #planner: Planner;
  readonly #versions: VersionStore;

  constructor(configurations: RepositoryConfigurations, planner: Planner, versions: VersionStore) {
    this.#configurations = configurations;
    this.#planner = planner;
    this.#versions = versions;
  }

  /** Where the code is and how it is read; asked for only where it is needed. */
  async lookUpRepository(scope: EnvironmentScope): Promise<void> {
    scope.configuration ??= await this.#configurations.read(scope.repository);
  }

  /** What the ref's newest commit says; throws as Planner.plan does. */
  async plan(scope: EnvironmentScope): Promise<Version> {
    await this.lookUpRepository(scope);
    return this.#planner.plan(scope.planRequest());
  }

  /**
   * Undefined where the Git host does not say: a running build must not wait for that. `busy`: it is to be asked later,
   * and the scope is looked at again then.
   */
  async newest(scope: EnvironmentScope): Promise<PlannedVersion | 'busy' | undefined> {
    await this.lookUpRepository(scope);
    try {
      return await this.#planner.newest(scope.planRequest());
    } catch (error) {
      if (error instanceof HostBusyError) {
        scope.lookAgainIn(error.retryAfterMs);
        return 'busy';
      }
      const silences = [SourceRefusedError, SourceUnreachableError, KeyNotAcceptedError];
      if (silences.some((silence) => error instanceof silence)) return undefined;
      throw error;
    }
  }

  find(scope: EnvironmentScope, id: string | undefined): Promise<Version | undefined> {
    return id === undefined ? Promise.resolve(undefined) : this.#versions.find(scope.place(), id);
  }

  /** Removes the versions that the status named before this reconcile and names no more. */
  async retireOthers(scope: EnvironmentScope): Promise<void> {
    const { retired, kept } = retiredVersions(scope.before, scope.status);
    await this.#versions.retire(scope.place(), retired, kept);
  }
}
