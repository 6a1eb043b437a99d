import type { Service } from '../../../service-file/schema.ts';

/**
 * Returns how a pod stops. With `drainSeconds`, it responds for that long after termination started, until the Ingress
 * controller stops sending requests. A preStop hook sends a stop signal other than SIGTERM, because Kubernetes' own
 * field (KEP-4960) is disabled by default. The hook needs a shell in the image; without one, SIGTERM is sent. With an
 * init process, the hook cannot find the service's process, so SIGTERM is sent too.
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

/** Returns the hook's script. It ends together with process 1, or by SIGKILL at the end of the grace period. */
function stopScript(signal: string, drainSeconds: number): string {
  const drain = drainSeconds > 0 ? `sleep ${drainSeconds}; ` : '';
  return `${drain}kill -${signal} 1; while kill -0 1; do sleep 1; done`;
}

/**
 * Returns the signal in the format of kill(1) for `SIGQUIT`, `QUIT` or `3`; undefined for SIGTERM, which Kubernetes
 * sends itself.
 */
function otherSignal(stopSignal: string | undefined): string | undefined {
  const name = stopSignal?.toUpperCase().replace(/^SIG/, '');
  if (name === undefined || ['TERM', '15'].includes(name) || !/^[A-Z0-9]+([+-]\d+)?$/.test(name)) return undefined;
  return name;
}
