import { isInvalid } from '../../kubernetes/api-error.ts';
import { Stalled } from '../errors.ts';

/** What the API server refuses for good, only somebody's change can mend; any other error is given back as it is. */
export function userMustAct(error: unknown): unknown {
  if (!isInvalid(error)) return error;
  return new Stalled('Refused', `Kubernetes refuses it: ${error.statusMessage}`, { cause: error });
}
