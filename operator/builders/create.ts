import type { Controller } from '../../kubernetes/controller.ts';
import type { OperatorParts } from '../parts.ts';
import { defaultPlatform } from '../scheduling.ts';
import { BuilderSet } from './builder-set.ts';
import { BuilderPool } from './pool.ts';
import { BuilderReconciler } from './reconciler.ts';
import { routeBuilderChanges } from './routing.ts';

export interface Builders {
  pool: BuilderPool;
  reconciler: BuilderReconciler;
  /** Has the reconciler's controller told of what it must look at. */
  route: (controller: Pick<Controller, 'enqueue'>) => void;
}

/** Puts together what keeps builders; `enqueue` has the Environment under a key looked at again. */
export function createBuilders(parts: OperatorParts, enqueue: (environmentKey: string) => void): Builders {
  const { client, applier, caches, config, logger, now } = parts;
  const { environments, pods, networkPolicies: policies, builderSecrets: secrets } = caches;
  const settings = { ...config.builder, platform: defaultPlatform(config) };
  const { namespace, idleSeconds } = settings;
  const builders = new BuilderSet({ client, applier, secrets, pods, policies, settings, now });
  const pool = new BuilderPool({ builders, settings, enqueue, logger, now });
  return {
    pool,
    reconciler: new BuilderReconciler({ builders, pool, environments, idleSeconds, now }),
    route: (controller) =>
      routeBuilderChanges({ environments, secrets, pods, policies, builders, pool, controller, namespace }),
  };
}
