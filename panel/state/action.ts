import { useSignal, type Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { asRequestError, type RequestError } from '../api/errors.ts';

export interface Action {
  run: () => void;
  isPending: Signal<boolean>;
  error: Signal<RequestError | undefined>;
}

/** Runs the write of a form or button, one call at a time, and keeps its error for display. */
export function useAction(act: () => Promise<void>): Action {
  const isPending = useSignal(false);
  const error = useSignal<RequestError | undefined>(undefined);
  const run = () => {
    if (isPending.peek()) return;
    isPending.value = true;
    error.value = undefined;
    // An error that is thrown before the first await is one of the action, too.
    void Promise.resolve()
      .then(act)
      .catch((thrown: unknown) => {
        error.value = asRequestError(thrown);
      })
      .finally(() => {
        isPending.value = false;
      });
  };
  return { run, isPending, error };
}

/** Returns a function that returns whether the component is still shown: what follows an answer depends on it. */
export function useIsShown(): () => boolean {
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  return () => isShown.current;
}
