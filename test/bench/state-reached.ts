import { watchStates } from '../client/watch-states.ts';

/** Waits for a state with a watch, so that no polling interval is included in the measurement. */
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
