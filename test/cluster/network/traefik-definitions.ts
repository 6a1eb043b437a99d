import { stringify } from 'yaml';

/** Traefik's own kinds by their plural. It watches all of them, or none. */
const kinds = {
  ingressroutes: 'IngressRoute',
  ingressroutetcps: 'IngressRouteTCP',
  ingressrouteudps: 'IngressRouteUDP',
  middlewares: 'Middleware',
  middlewaretcps: 'MiddlewareTCP',
  serverstransports: 'ServersTransport',
  serverstransporttcps: 'ServersTransportTCP',
  tlsoptions: 'TLSOption',
  tlsstores: 'TLSStore',
  traefikservices: 'TraefikService',
};
const group = 'traefik.io';

/** The only definition of Traefik's that the chart needs. */
export const MIDDLEWARE_DEFINITION = `customresourcedefinitions.apiextensions.k8s.io/middlewares.${group}`;

/** Returns definitions of Traefik's kinds, which accept any fields: Traefik's own are 200 KB. */
export function traefikDefinitions(): string {
  const anyFields = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const versions = [{ name: 'v1alpha1', served: true, storage: true, schema: { openAPIV3Schema: anyFields } }];
  return Object.entries(kinds)
    .map(([plural, kind]) =>
      stringify({
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: `${plural}.${group}` },
        spec: { group, names: { kind, plural, singular: kind.toLowerCase() }, scope: 'Namespaced', versions },
      }),
    )
    .join('---\n');
}
