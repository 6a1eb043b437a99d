import { isForbidden } from '../../kubernetes/api-error.ts';
import { Stalled } from '../errors.ts';

/** What admission says about a pod or an object, in words to act on; the same words where there are none better. */
export function explainRefusal(message: string): string {
  if (message.includes('exceeded quota')) {
    const asked = /requested: ([^:]*?), used:/.exec(message)?.[1];
    const limited = /limited: (.*)$/.exec(message)?.[1];
    const details = asked !== undefined && limited !== undefined ? ` (asked for ${asked}, of ${limited})` : '';
    return `the environment's quota is used up${details}: ask for less, or have an administrator raise it`;
  }
  const limits = limitViolations(message);
  if (limits !== undefined)
    return `an environment may not have that much (${limits}): ask for less, or have an administrator raise it`;
  const violation = /violates PodSecurity "[^"]*": (.*)$/s.exec(message)?.[1];
  return violation === undefined ? message : `an environment may not do this: ${violation}`;
}

/** What a LimitRange has against it: `forbidden: [maximum memory usage per Container is 1Gi, but limit is 2Gi, …]`. */
function limitViolations(message: string): string | undefined {
  const said = /forbidden: \[?((?:maximum|minimum|.* max limit to request ratio).*?)\]?$/s.exec(message)?.[1];
  return said !== undefined && / per (Container|Pod|PersistentVolumeClaim) is /.test(said) ? said : undefined;
}

/** Whether admission refuses a pod for what it asks for itself: a quota may be free again. */
export function isForGood(message: string): boolean {
  return limitViolations(message) !== undefined || /violates PodSecurity "/.test(message);
}

/** A quota that is used up, or a limit, is for the user to mend; any other error stays as it is. */
export function refusedForGood(error: unknown): unknown {
  if (!isForbidden(error)) return error;
  const isQuota = error.statusMessage.includes('exceeded quota');
  if (!isQuota && limitViolations(error.statusMessage) === undefined) return error;
  return new Stalled(
    isQuota ? 'QuotaExceeded' : 'LimitExceeded',
    `${error.details.name ?? 'an object'}: ${explainRefusal(error.statusMessage)}`,
    {
      cause: error,
    },
  );
}
