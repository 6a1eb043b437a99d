import { formatId } from '../../../crds/ids.ts';
import { GATE_PATH, INGRESS_NGINX_PATH, RETURN_PARAMETER } from '../../../environment-access/paths.ts';
import { ACCESS_HEADER } from '../../../environment-access/tokens.ts';
import type { HttpRoute, Ingress, Middleware, Service } from '../../../kubernetes/resource-type.ts';
import type { AccessEnforcement } from './access-enforcement.ts';
import { routesByHost } from './hosts.ts';
import type { WorkloadContext } from './input.ts';
import { objectMeta } from './object-meta.ts';
import { kubernetesServices } from './service.ts';

/** What is needed to restrict hosts that are already published. */
export type AccessContext = Pick<WorkloadContext, 'namespace' | 'labels' | 'id' | 'access' | 'settings'>;

/** Traefik applies these middlewares, in order, to all routes of an Ingress. */
const middlewaresAnnotation = 'traefik.ingress.kubernetes.io/router.middlewares';
const nginxPrefix = 'nginx.ingress.kubernetes.io/';
const middlewareName = 'coppice-access';
/** Name of the Ingress that leads to the API. No other one of an environment has it. */
export const GATE_INGRESS = 'web-access';

/** Returns how access is enforced; undefined for a public environment. @throws Error if it cannot be, as checked before */
function enforcement({
  access,
  settings,
}: Pick<WorkloadContext, 'access' | 'settings'>): AccessEnforcement | undefined {
  if (access === 'public') return undefined;
  const { enforcement: chosen } = settings.ingress;
  if (!chosen) throw new Error('an environment with restricted access is not published');
  return chosen;
}

/**
 * Returns the annotations of an Ingress that restrict access, which replace those of `environments.ingressAnnotations`.
 * @throws Error if it cannot be restricted, which must have been checked before
 */
export function accessAnnotations(context: AccessContext): Record<string, string> {
  const chosen = enforcement(context);
  switch (chosen?.by) {
    case undefined:
      return publicAnnotations(context);
    case 'traefik': {
      const others = context.settings.ingress.annotations[middlewaresAnnotation];
      const names = [chosen.middleware, ...(others === undefined ? [] : [others])];
      return { [middlewaresAnnotation]: names.join(',') };
    }
    case 'ingress-nginx':
      return nginxAnnotations(context, chosen.host);
    case 'traefik-gateway':
      throw new Error('access at a Gateway is not restricted by an Ingress');
  }
}

/**
 * Returns the annotations of a public environment: at ingress-nginx, the API refuses requests whose header Host names
 * another environment, since the waker finds the environment by that header alone.
 */
function publicAnnotations({ id, settings }: AccessContext): Record<string, string> {
  const { enforcement: chosen } = settings.ingress;
  if (chosen?.by !== 'ingress-nginx' || !settings.waker) return {};
  return { [`${nginxPrefix}auth-url`]: checkUrl(id, chosen.host) };
}

function checkUrl(id: AccessContext['id'], host: string): string {
  return `http://${host}${INGRESS_NGINX_PATH}${formatId(id)}`;
}

/**
 * The URL names the environment: nginx describes the host as the client does, who can name one host in the request line
 * and another one in the header Host. A visitor logs in at the gate's path of the host, because nginx passes on neither
 * redirects nor cookies of the API's answer.
 */
function nginxAnnotations({ id, settings }: AccessContext, host: string): Record<string, string> {
  const { protocol, port } = settings.environmentsUrl;
  const gate = `${protocol}//$host${port === '' ? '' : `:${port}`}${GATE_PATH}`;
  return {
    [`${nginxPrefix}auth-url`]: checkUrl(id, host),
    [`${nginxPrefix}auth-signin`]: `${gate}?${RETURN_PARAMETER}=$escaped_request_uri`,
    // nginx replaces these headers of the request with those of the answer, or removes them.
    [`${nginxPrefix}auth-response-headers`]: `Cookie, ${ACCESS_HEADER}`,
    [`${nginxPrefix}satisfy`]: 'all',
  };
}

/** Returns the filters of each rule of an HTTPRoute that restrict access. @throws as accessAnnotations() */
export function accessFilters(
  context: Pick<WorkloadContext, 'access' | 'settings'>,
): HttpRoute['spec']['rules'][0]['filters'] {
  const chosen = enforcement(context);
  if (!chosen) return undefined;
  if (chosen.by !== 'traefik-gateway') throw new Error('access by an Ingress is not restricted at a Gateway');
  return [{ type: 'ExtensionRef', extensionRef: { group: 'traefik.io', kind: 'Middleware', name: middlewareName } }];
}

/** Returns the middleware that HTTPRoutes of the namespace refer to; undefined if they need none. */
export function accessMiddleware(context: AccessContext): Middleware | undefined {
  const chosen = enforcement(context);
  if (chosen?.by !== 'traefik-gateway') return undefined;
  const { forwardAuth } = chosen;
  return {
    apiVersion: 'traefik.io/v1alpha1',
    kind: 'Middleware',
    metadata: objectMeta(context, middlewareName),
    spec: { forwardAuth },
  };
}

/** Returns the name of the Service that leads to the API, which no service of the environment has. */
function gateServiceName(context: WorkloadContext): string {
  const taken = new Set(
    context.serviceFile.services
      .flatMap((service) => kubernetesServices(context, service))
      .map(({ metadata }) => metadata.name),
  );
  let name = 'coppice-access';
  while (taken.has(name)) name += '-x';
  return name;
}

/** Returns the Service by which the environment's hosts lead to the API; undefined if they need not. */
export function gateService(context: WorkloadContext): Service | undefined {
  const chosen = enforcement(context);
  if (chosen?.by !== 'ingress-nginx') return undefined;
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: objectMeta(context, gateServiceName(context)),
    spec: { type: 'ExternalName', externalName: chosen.host, ports: [{ name: 'access', port: 80, protocol: 'TCP' }] },
  };
}

/** Returns the Ingress that leads the gate's path of each host to the API, without a login; undefined if there is none. */
export function gateIngress(context: WorkloadContext): Ingress | undefined {
  const service = gateService(context);
  const hosts = [...routesByHost(context).keys()];
  if (!service || hosts.length === 0) return undefined;
  const { className, annotations } = context.settings.ingress;
  const backend = { service: { name: service.metadata.name, port: { number: 80 } } };
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { ...objectMeta(context, GATE_INGRESS), annotations },
    spec: {
      ...(className !== undefined && { ingressClassName: className }),
      rules: hosts.map((host) => ({ host, http: { paths: [{ path: GATE_PATH, pathType: 'Exact', backend }] } })),
    },
  };
}
