import type { Service } from '../../../service-file/schema.ts';

/**
 * How a pod ends. `drainSeconds` above 0 keeps it answering that long after it was given up, until the Ingress
 * controller has taken it out. A stop signal other than SIGTERM is sent by a hook, for Kubernetes' own field
 * (KEP-4960) is not there by default; it needs a shell in the image, without one SIGTERM comes as ever. Where process 1
 * is not the service's own (init), the hook could not find it.
 */
export function stopping(service: Service, drainSeconds: number) {
  const signal = service.init ? undefined : otherSignal(service.stopSignal);
  const preStop =
    signal !== undefined
      ? { exec: { command: ['/bin/sh', '-c', stopScript(signal, drainSeconds)] } }
      : drainSeconds > 0
        ? { sleep: { seconds: drainSeconds } }
        : undefined;
  return {
    terminationGracePeriodSeconds: service.stopGracePeriodSeconds + drainSeconds,
    ...(preStop && { lifecycle: { preStop } }),
  };
}

/** Process 1 takes the hook with it when it ends; when it does not, SIGKILL comes at the end of the grace period. */
function stopScript(signal: string, drainSeconds: number): string {
  const drain = drainSeconds > 0 ? `sleep ${drainSeconds}; ` : '';
  return `${drain}kill -${signal} 1; while kill -0 1; do sleep 1; done`;
}

/** `SIGQUIT`, `QUIT` or `3` as kill(1) takes it; undefined for SIGTERM, which Kubernetes sends by itself. */
function otherSignal(stopSignal: string | undefined): string | undefined {
  const name = stopSignal?.toUpperCase().replace(/^SIG/, '');
  if (name === undefined || ['TERM', '15'].includes(name) || !/^[A-Z0-9]+([+-]\d+)?$/.test(name)) return undefined;
  return name;
}
