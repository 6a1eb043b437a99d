import { storeNamespace } from '../../crds/reusable-environment.ts';
import type { EnvironmentScope } from '../environment/scope.ts';
import type { Version } from '../environment/version.ts';
import type { Publishing } from './publishing.ts';
import type { Seeding } from './seeding.ts';
import type { VolumeCopies } from './volume-copies.ts';

/** What an environment has to do with reusable ones: it begins with one, and becomes one. */
export class Reusing {
  readonly #seeding: Seeding;
  readonly #publishing: Publishing;
  readonly #copies: VolumeCopies;

  constructor(seeding: Seeding, publishing: Publishing, copies: VolumeCopies) {
    this.#seeding = seeding;
    this.#publishing = publishing;
    this.#copies = copies;
  }

  /** Before new contents are set up. Throws Waiting while their volumes are filled, Stalled where they cannot be. */
  seed(scope: EnvironmentScope, version: Version): Promise<void> {
    return this.#seeding.advance(scope, version);
  }

  /** Where new contents cannot be set up: what they were to begin with is not held any longer. */
  breakOffSeed(scope: EnvironmentScope): Promise<void> {
    return this.#seeding.breakOff(scope);
  }

  /** Whether a build that is asked for waits: what it would start must not write to volumes that are being copied. */
  holdsBuilds(scope: EnvironmentScope): boolean {
    return this.#publishing.isUnderWay(scope);
  }

  /** Of what came up nothing is known any more. */
  giveUp(scope: EnvironmentScope): void {
    this.#publishing.giveUp(scope);
  }

  /** Of the version that has come up. Gives the services that are stopped meanwhile. */
  publish(scope: EnvironmentScope, version: Version): Promise<ReadonlySet<string>> {
    return this.#publishing.advance(scope, version);
  }

  /** Before the contents go. */
  async end({ uid, repository, status }: EnvironmentScope): Promise<void> {
    if (status.seed?.result === 'running') await this.#copies.dropAllFor(uid, storeNamespace(repository.group));
  }
}
