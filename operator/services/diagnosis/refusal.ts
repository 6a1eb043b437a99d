import { isForbidden } from '../../../kubernetes/api-error.ts';
import { Stalled } from '../../shared/errors.ts';

/** What admission says about a pod or an object, in words to act on; the same words where there are none better. */
export function explainRefusal(message: string): string {
  if (message.includes('exceeded quota')) {
    const asked = /requested: ([^:]*?), used:/.exec(message)?.[1];
    const limited = /limited: (.*)$/.exec(message)?.[1];
    const details = asked !== undefined && limited !== undefined ? ` (requested ${asked}, of ${limited})` : '';
    return `the environment's quota is used up${details}. Request less, or ask an administrator to raise it`;
  }
  const limits = limitViolations(message);
  if (limits !== undefined)
    return `the request exceeds the limit of an environment (${limits}). Request less, or ask an administrator to raise it`;
  const violation = /violates PodSecurity "[^"]*": (.*)$/s.exec(message)?.[1];
  return violation === undefined ? message : `an environment is not permitted to do this: ${violation}`;
}

/** What a LimitRange has against it: `forbidden: [maximum memory usage per Container is 1Gi, but limit is 2Gi, …]`. */
function limitViolations(message: string): string | undefined {
  const reason = /forbidden: \[?((?:maximum|minimum|.* max limit to request ratio).*?)\]?$/s.exec(message)?.[1];
  return reason !== undefined && / per (Container|Pod|PersistentVolumeClaim) is /.test(reason) ? reason : undefined;
}

/** Whether admission refuses a pod for what it asks for itself: a quota may be free again. */
export function isForGood(message: string): boolean {
  return limitViolations(message) !== undefined || /violates PodSecurity "/.test(message);
}

/** A quota that is used up, or a limit, is for the user to fix; any other error stays as it is. */
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
