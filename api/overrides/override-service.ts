import { findCondition } from '../../crds/conditions.ts';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import type { Caches, ClusterWriter } from '../cluster/caches.ts';
import { readOwnedText, replaceOwnedText } from '../cluster/owned-text.ts';
import { requireNotApplied } from '../cluster/ownership.ts';
import { updateChecked } from '../cluster/update-checked.ts';
import { Conflict } from '../shared/errors.ts';
import type { RandomBytes } from '../shared/tokens.ts';
import { variablesOf } from '../shared/variable-owner.ts';
import type { VariableService } from '../variables/variable-service.ts';

export interface OverrideServiceOptions {
  cluster: ClusterWriter;
  cache: Pick<Caches['environments'], 'get' | 'observe'>;
  variables: Pick<VariableService<Environment>, 'remove'>;
  randomBytes: RandomBytes;
}

/** Writes the service file of an environment's overrides; VariableService writes the variables. */
export class OverrideService {
  readonly #options: OverrideServiceOptions;

  constructor(options: OverrideServiceOptions) {
    this.#options = options;
  }

  /** Returns the service file; empty if there is none. */
  async serviceFile(environment: Environment): Promise<string> {
    const { content = '', contentFrom } = environment.spec.overrides?.serviceFile ?? {};
    return contentFrom ? readOwnedText(this.#options.cluster, environment, contentFrom) : content;
  }

  /** Replaces the service file; an empty text removes it. @throws Conflict when a GitOps tool applies it */
  async setServiceFile(environment: Environment, text: string): Promise<Environment> {
    const { cluster, cache, randomBytes } = this.#options;
    const change = (contentFrom: object | null) =>
      updateChecked(cluster, cache, ENVIRONMENT, environment, (current) => {
        const serviceFile = contentFrom && { content: null, contentFrom };
        const spec = { overrides: { serviceFile } };
        requireNotApplied(current, spec);
        return { spec };
      });
    return replaceOwnedText({
      ...{ cluster, randomBytes, owner: environment, stem: 'overrides', text, write: change },
      sourceOf: ({ spec }) => spec.overrides?.serviceFile?.contentFrom,
    });
  }

  /** Removes all overrides. @throws Conflict when a GitOps tool applies one of them */
  async removeAll(environment: Environment): Promise<Environment> {
    for (const { name } of variablesOf(environment)) await this.#options.variables.remove(environment, name);
    return environment.spec.overrides?.serviceFile ? this.setServiceFile(environment, '') : environment;
  }
}

/**
 * Requires that overrides would have an effect: the operator withholds them from code that is not trusted, as it does
 * variables of the repository. @throws Conflict
 */
export function requireTrusted({ status }: Environment): void {
  if (findCondition(status?.conditions, 'Trusted')?.status !== 'False') return;
  throw new Conflict(
    'the code of this pull request is not trusted, so it gets no overrides, which can contain secrets. Set trustForks on the Repository, or push its commits to a branch of the repository',
  );
}
