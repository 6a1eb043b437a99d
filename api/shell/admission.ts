import { findCondition } from '../../crds/conditions.ts';
import type { Environment } from '../../crds/environment.ts';
import { Conflict, Forbidden, type HttpError } from '../shared/errors.ts';

/** The settings of the chart for shells and forwarded ports. */
export interface ShellSettings {
  isEnabled: boolean;
  /** Whether members can connect to environments of code that is not trusted. */
  allowsForks: boolean;
  /** A session without data for this long is closed. */
  idleMs: number;
}

/** Returns why nobody can connect to the environment's services now; undefined if its members can. */
export function refusalOf(
  { spec, status = {}, metadata }: Environment,
  { isEnabled, allowsForks }: Pick<ShellSettings, 'isEnabled' | 'allowsForks'>,
): HttpError | undefined {
  if (!isEnabled) {
    return new Forbidden(
      'shells and port forwarding are turned off in this installation. Ask an administrator to set environments.shell.enabled',
    );
  }
  // Unknown counts as a fork.
  const isTrusted =
    spec.gitRef.type !== 'pull request' || findCondition(status.conditions, 'Trusted')?.status === 'True';
  if (!isTrusted && !allowsForks) {
    return new Forbidden(
      'the code comes from a fork, and this installation permits no connection to it. Ask an administrator to set environments.shell.forks',
    );
  }
  const isLeaving = metadata.deletionTimestamp !== undefined || status.activation?.active === false;
  if (isLeaving || (status.state ?? 'empty') === 'empty') {
    return new Conflict('the environment has no contents. Send PUT to create them');
  }
  return undefined;
}
