import { isForbidden } from '../../../kubernetes/api-error.ts';
import { Stalled } from '../../shared/errors.ts';

/** Explains an admission error for a pod or an object, and what to do; returns unknown messages unchanged. */
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
  return violation === undefined
    ? message
    : `an environment is not permitted to do this: ${violation}. Remove it from the service file, or ask an administrator`;
}

/**
 * Extracts the violations from a LimitRange's error: `forbidden: [maximum memory usage per Container is 1Gi, but limit
 * is 2Gi, …]`.
 */
function limitViolations(message: string): string | undefined {
  const reason = /forbidden: \[?((?:maximum|minimum|.* max limit to request ratio).*?)\]?$/s.exec(message)?.[1];
  return reason !== undefined && / per (Container|Pod|PersistentVolumeClaim) is /.test(reason) ? reason : undefined;
}

/** Returns whether admission refuses the pod itself, as opposed to a quota, which may be free later. */
export function isForGood(message: string): boolean {
  return limitViolations(message) !== undefined || /violates PodSecurity "/.test(message);
}

/** Converts refusals by a quota or limit, which the user must fix, to Stalled; returns other errors unchanged. */
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
