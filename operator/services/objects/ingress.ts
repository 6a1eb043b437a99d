import type { ResourceId } from '../../../crds/ids.ts';
import { environmentAliasUrl } from '../../../crds/environment-address.ts';
import type { Ingress } from '../../../kubernetes/resource-type.ts';
import { accessAnnotations } from './access.ts';
import { routesByHost } from './hosts.ts';
import type { PublicRoute, ServiceFile } from '../../../service-file/schema.ts';
import type { WorkloadContext } from './input.ts';
import { objectMeta } from './object-meta.ts';
import { visitedPort } from './service.ts';

const ingressName = 'web';

/** Returns the Ingress for the environment's host and its aliases; undefined if nothing is public. */
export function ingress(context: WorkloadContext): Ingress | undefined {
  const { settings } = context;
  const { className, annotations, clusterIssuer } = settings.ingress;
  const { protocol } = settings.environmentsUrl;
  const hosts = routesByHost(context);
  if (hosts.size === 0) return undefined;
  // Without a Secret, the Ingress controller uses its default certificate.
  const tls = { hosts: [...hosts.keys()], ...(clusterIssuer !== undefined && { secretName: `${ingressName}-tls` }) };
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: {
      ...objectMeta(context, ingressName),
      annotations: {
        ...annotations,
        ...accessAnnotations(context),
        ...(clusterIssuer !== undefined && { 'cert-manager.io/cluster-issuer': clusterIssuer }),
      },
    },
    spec: {
      ...(className !== undefined && { ingressClassName: className }),
      ...(protocol === 'https:' && { tls: [tls] }),
      rules: [...hosts].map(([host, routes]) => ({
        host,
        http: { paths: routes.map((route) => ingressPath(context, route)) },
      })),
    },
  };
}

function ingressPath(context: WorkloadContext, { path, service, port }: PublicRoute) {
  const number = visitedPort(context, service, port);
  return { path, pathType: 'Prefix', backend: { service: { name: service, port: { number } } } };
}

/** Returns the web addresses of the service file's aliases, by alias. */
export function aliasUrls(id: ResourceId, { publicRoutes }: ServiceFile, environmentsUrl: URL): Record<string, string> {
  const aliases = new Set(publicRoutes.flatMap(({ alias }) => (alias === undefined ? [] : [alias])));
  return Object.fromEntries(
    [...aliases].sort().map((alias) => [alias, environmentAliasUrl(environmentsUrl, id, alias)]),
  );
}
