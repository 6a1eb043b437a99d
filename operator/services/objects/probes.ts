import type { Healthcheck } from '../../../service-file/schema.ts';
import { literal } from '../../shared/literal.ts';

/**
 * Returns the container's probes. A health check runs every second until it first succeeds, then at its own interval.
 * Without one, a public service is ready when its port accepts connections.
 */
export function probes(healthcheck: Healthcheck | undefined, publicPort: number | undefined) {
  if (healthcheck) {
    const { intervalSeconds, timeoutSeconds, retries, startPeriodSeconds } = healthcheck;
    const action = probeAction(healthcheck);
    return {
      startupProbe: {
        ...action,
        timeoutSeconds,
        periodSeconds: 1,
        failureThreshold: startPeriodSeconds + intervalSeconds * retries,
      },
      readinessProbe: { ...action, timeoutSeconds, periodSeconds: intervalSeconds, failureThreshold: retries },
    };
  }
  if (publicPort === undefined) return {};
  return { readinessProbe: { tcpSocket: { port: publicPort }, periodSeconds: 1, failureThreshold: 3 } };
}

/** Returns the probe's command; Kubernetes expands it like a container's command. */
function probeAction({ command, http }: Healthcheck) {
  if (http) return { httpGet: { path: http.path, port: http.port } };
  return { exec: { command: (command ?? []).map(literal) } };
}
