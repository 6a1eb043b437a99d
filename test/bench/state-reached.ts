import { watchStates } from '../client/watch-states.ts';

/** Waits for a state by a watch, so that no interval of asking is part of what is measured. */
export function stateReached(kubeconfig: string, seconds = 180): (id: string, state: string) => Promise<void> {
  return (id, state) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        watch.stop();
        reject(new Error(`${id} was not ${state} within ${seconds} s`));
      }, seconds * 1000);
      const watch = watchStates(kubeconfig, id, (now) => {
        if (now !== state) return;
        clearTimeout(timer);
        watch.stop();
        resolve();
      });
    });
}
