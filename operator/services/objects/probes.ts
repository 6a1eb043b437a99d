import type { Healthcheck } from '../../../service-file/schema.ts';
import { literal } from '../../shared/literal.ts';

/**
 * A health check is asked every second until it first succeeds, then at its own interval. Without one, what is public
 * counts as ready when its port takes connections: no request is led to a server that does not listen yet.
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

/** Probes' commands are expanded as a container's own are. */
function probeAction({ command, http }: Healthcheck) {
  if (http) return { httpGet: { path: http.path, port: http.port } };
  return { exec: { command: (command ?? []).map(literal) } };
}
