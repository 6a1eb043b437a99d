import type { LogSessions } from '../images/logs/log-sessions.ts';
import type { Controller } from '../../kubernetes/controller.ts';
import { createContext, type GivenContext } from './create-context.ts';
import { accessKeyController } from './access-keys.ts';
import { approvalController } from './approvals.ts';
import { builderController } from './builder.ts';
import { environmentController } from './environment.ts';
import { feedbackController } from './feedback.ts';
import { groupController } from './group.ts';
import { housekeepingController, type HousekeepingController } from './housekeeping.ts';
import { lostPodController } from './lost-pods.ts';
import { registryKeyController } from './registry-keys.ts';
import { repositoryController } from './repository.ts';
import { lostVolumeController, reusableController } from './reusable.ts';
import { sizesController } from './sizes.ts';
import { testsController } from './tests.ts';
import { createWakerLinks } from './wakers.ts';
import type { WakerLinks } from '../services/front/waker-links.ts';

/** Creates all controllers; each one's file lists its watches, its workers and its dependencies. */
export function createControllers(given: GivenContext): {
  controllers: Controller[];
  logs: LogSessions;
  wakers: WakerLinks | undefined;
  housekeeping: Pick<HousekeepingController, 'start' | 'stop'>;
} {
  const parts = createContext(given);
  const enqueue = (environmentKey: string) => environments.controller.enqueue(environmentKey);
  const builders = builderController(parts, enqueue);
  const reusables = reusableController(parts);
  const environments = environmentController(parts, {
    builders: builders.pool,
    reusables: reusables.reusables,
    enqueue,
  });
  const housekeeping = housekeepingController(parts, {
    retention: environments.retention,
    builders: builders.controller,
  });
  const controllers = [
    groupController(parts, builders.pool),
    repositoryController(parts),
    environments.controller,
    reusables.controller,
    lostVolumeController(parts),
    feedbackController(parts),
    approvalController(parts),
    builders.controller,
    housekeeping.controller,
    lostPodController(parts),
    sizesController(parts),
    testsController(parts),
    accessKeyController(parts),
    ...registryKeyController(parts),
  ];
  return { controllers, logs: environments.logs, wakers: createWakerLinks(parts, enqueue), housekeeping };
}
