import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { send } from '../api/client.ts';
import { asRequestError, type RequestError } from '../api/errors.ts';
import type { InvitationView } from '../api/types.ts';

/** Reads what an invitation is for. An empty invitation is not read. */
export function useInvitation(invitation: string): {
  found: InvitationView | undefined;
  error: RequestError | undefined;
} {
  const found = useSignal<InvitationView | undefined>(undefined);
  const error = useSignal<RequestError | undefined>(undefined);
  useEffect(() => {
    found.value = undefined;
    error.value = undefined;
    if (invitation === '') return undefined;
    let isCurrent = true;
    send<InvitationView>('POST', '/api/user/invitation/check', { body: { invitation }, waitsForSignIn: false })
      .then((view) => {
        if (isCurrent) found.value = view;
      })
      .catch((thrown: unknown) => {
        if (isCurrent) error.value = asRequestError(thrown);
      });
    return () => {
      isCurrent = false;
    };
  }, [invitation]);
  return { found: found.value, error: error.value };
}
