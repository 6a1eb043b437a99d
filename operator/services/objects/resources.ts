import { quantityValue, smaller } from '../../../kubernetes/quantity.ts';
import type { Service } from '../../../service-file/schema.ts';
import type { WorkloadSettings } from './input.ts';

type Defaults = Pick<WorkloadSettings, 'defaultRequests' | 'defaultLimits'>;

/**
 * Returns a container's resources. Kubernetes takes a limit without a request as the request, but Compose does not: a
 * limit alone gets the default request. A request above the default limit gets a limit of its own.
 */
export function resources(service: Service, { defaultRequests, defaultLimits }: Defaults) {
  const limits: Record<string, string> = {};
  const requests: Record<string, string> = {};
  for (const name of ['cpu', 'memory'] as const) {
    const request = service.resources.requests[name];
    const defaultLimit = defaultLimits[name];
    const isAboveDefault =
      request !== undefined && defaultLimit !== undefined && quantityValue(request) > quantityValue(defaultLimit);
    const limit = service.resources.limits[name] ?? (isAboveDefault ? request : undefined);
    if (limit !== undefined) limits[name] = limit;
    const defaultRequest = defaultRequests[name];
    if (request !== undefined) requests[name] = request;
    else if (limit !== undefined && defaultRequest !== undefined) requests[name] = smaller(defaultRequest, limit);
  }
  return {
    ...(Object.keys(requests).length > 0 && { requests }),
    ...(Object.keys(limits).length > 0 && { limits }),
  };
}
