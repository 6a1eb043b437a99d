import { createHash } from 'node:crypto';
import { formatId } from '../../../../crds/ids.ts';
import type { SleepSettings } from '../../../../crds/sleep.ts';
import type { RolloutProgress, ServiceProgress } from '../../../services/rollout/progress.ts';
import type { PublicFront } from '../../../services/front/known-environment.ts';
import type { WakerBoard } from '../../../services/front/waker-board.ts';
import type { KnownEnvironment } from '../../../../waker-protocol/messages.ts';
import type { EnvironmentScope } from '../scope/scope.ts';

export interface WakerReportsOptions {
  board: Pick<WakerBoard, 'has' | 'publish' | 'release' | 'forget'>;
  settingsOf: (scope: EnvironmentScope) => SleepSettings;
  /** Returns the tenant of a group. */
  tenantOf: (group: string) => string;
  apiUrl: URL;
}

/** Reports to the wakers the environments whose requests reach them. */
export class WakerReports {
  readonly #options: WakerReportsOptions;

  constructor(options: WakerReportsOptions) {
    this.#options = options;
  }

  /** Reports a sleeping environment. */
  asleep(scope: EnvironmentScope, services: readonly ServiceProgress[], front: PublicFront): void {
    this.#options.board.publish(this.#known(scope, 'asleep', services, front));
  }

  /** Reports how the services of an environment start, if a waker knows it or receives its requests. */
  rollingOut(scope: EnvironmentScope, { services, done, wakers }: RolloutProgress, front: () => PublicFront): void {
    const { board } = this.#options;
    if (wakers === 'none' && !board.has(scope.key)) return;
    const known = this.#known(scope, done ? 'awake' : 'waking', services, front());
    if (done && wakers === 'none') board.release(known);
    else board.publish(known);
  }

  /** Reports that an environment has no contents. */
  forget(key: string): void {
    this.#options.board.forget(key);
  }

  #known(
    scope: EnvironmentScope,
    mode: KnownEnvironment['mode'],
    services: readonly ServiceProgress[],
    front: PublicFront,
  ): KnownEnvironment {
    const id = formatId(scope.id);
    const tenant = createHash('sha256').update(this.#options.tenantOf(scope.id.group)).digest('base64url');
    return {
      ...{ key: scope.key, tenant, id, mode },
      wakeOn: this.#options.settingsOf(scope).wakeOn ?? 'visit',
      panelUrl: new URL(`/environments/${encodeURIComponent(id)}`, this.#options.apiUrl).href,
      services: services.map(({ name, ready }) => ({ name, ready })),
      ...front,
    };
  }
}
