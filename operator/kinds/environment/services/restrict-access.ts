import type { WorkloadSet } from '../../../services/rollout/workload-set.ts';
import type { ForwardAuth } from '../../../services/access/forward-auth.ts';
import { Stalled } from '../../../shared/errors.ts';
import type { PhaseResult } from '../scope/phase.ts';
import type { EnvironmentScope } from '../scope/scope.ts';

export interface RestrictAccessOptions {
  forwardAuth: Pick<ForwardAuth, 'problem'>;
  workloads: Pick<WorkloadSet, 'restrict' | 'unpublish'>;
}

/**
 * Restricts who can open an environment before anything else is done for it. Where the Ingress controller cannot do
 * that, the environment is refused: it must not become public because of it.
 */
export class RestrictAccess {
  readonly #options: RestrictAccessOptions;

  constructor(options: RestrictAccessOptions) {
    this.#options = options;
  }

  /** Runs the phase. Throws Stalled if access cannot be restricted. */
  async run({ access: { mode }, namespace, labels, id }: EnvironmentScope): Promise<PhaseResult<'access', never>> {
    const { forwardAuth, workloads } = this.#options;
    if (mode === 'public') return { status: { access: undefined } };
    const problem = await forwardAuth.problem(namespace);
    if (problem === undefined) {
      await workloads.restrict({ namespace, labels, id, access: mode });
      return { status: { access: mode } };
    }
    await workloads.unpublish(namespace);
    const message = `access is restricted to ${mode}, and this cluster cannot enforce that: ${problem}. Set access to public, or ask an administrator (docs/how-to/restrict-environments.md)`;
    return { status: { access: undefined }, failure: new Stalled('AccessNotEnforced', message) };
  }
}
