import type { Healthcheck } from '../../../service-file/schema.ts';
import { checkWords, type HiddenValues } from './hidden-values.ts';

/**
 * Returns the container's probes. A health check runs every second until it first succeeds, then at its own interval.
 * Without one, a public service is ready when its port accepts connections.
 */
export function probes(healthcheck: Healthcheck | undefined, publicPort: number | undefined, hidden?: HiddenValues) {
  if (healthcheck) {
    const { intervalSeconds, timeoutSeconds, retries, startPeriodSeconds } = healthcheck;
    const action = probeAction(healthcheck, hidden);
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

function probeAction({ command, http }: Healthcheck, hidden: HiddenValues | undefined) {
  if (http) return { httpGet: { path: http.path, port: http.port } };
  return { exec: { command: checkWords(command ?? [], hidden) } };
}
