import { z } from 'zod';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import { Gateway, GatewayClass, IngressClass } from '../../../kubernetes/resource-type.ts';
import type { WorkloadSettings } from '../objects/input.ts';

/** Value of `spec.controller` of the IngressClass that understands the annotations, by how access is enforced. */
const controllers = { traefik: 'traefik.io/ingress-controller', 'ingress-nginx': 'k8s.io/ingress-nginx' };
const gatewayController = 'traefik.io/gateway-controller';
/** Marks the class of Ingresses that name none. */
const isDefault = 'ingressclass.kubernetes.io/is-default-class';
/** How long a result is used, in milliseconds: classes change with the installation of an Ingress controller. */
const keptMs = 60_000;

const classSchema = z.looseObject({
  metadata: z.looseObject({ name: z.string(), annotations: z.record(z.string(), z.string()).optional() }),
  spec: z.looseObject({ controller: z.string().optional() }).optional(),
});

const gatewaySchema = z.looseObject({ spec: z.looseObject({ gatewayClassName: z.string() }) });
const gatewayClassSchema = z.looseObject({ spec: z.looseObject({ controllerName: z.string() }) });

/**
 * Traefik registers a middleware under its normalized name, without repeated hyphens, but looks up that of a route's filter
 * under the other one. Such routes answer 404.
 */
const unresolved =
  'Traefik finds no middleware of a Gateway\'s route in namespaces with "--" in their name, as this environment\'s has';

export interface ForwardAuthOptions {
  client: Pick<ClusterClient, 'list' | 'find'>;
  ingress: Pick<WorkloadSettings['ingress'], 'className' | 'parentRefs' | 'enforcement'>;
  now: () => Date;
}

/** Determines whether the Ingress controller or the Gateways ask the API about each request. */
export class ForwardAuth {
  readonly #options: ForwardAuthOptions;
  #known: { at: number; problem: string | undefined } | undefined;

  constructor(options: ForwardAuthOptions) {
    this.#options = options;
  }

  /** Returns why the access to the environment with this namespace cannot be restricted; undefined if it can. */
  async problem(namespace: string): Promise<string | undefined> {
    if (this.#options.ingress.enforcement?.by === 'traefik-gateway' && namespace.includes('--')) return unresolved;
    return this.#ofCluster();
  }

  async #ofCluster(): Promise<string | undefined> {
    const at = this.#options.now().getTime();
    if (this.#known && at - this.#known.at < keptMs) return this.#known.problem;
    const problem = await this.#find();
    this.#known = { at, problem };
    return problem;
  }

  /** What another controller ignores would leave the environment open, so Gateways and classes are checked. */
  async #find(): Promise<string | undefined> {
    const { className, parentRefs = [], enforcement } = this.#options.ingress;
    const isGateway = parentRefs.length > 0;
    if (enforcement === undefined || isGateway !== (enforcement.by === 'traefik-gateway')) {
      return `nothing enforces it at ${isGateway ? 'Gateways' : 'Ingresses'} (environments.access.enforcedBy)`;
    }
    if (enforcement.by !== 'traefik-gateway') return this.#ofClass(className, controllers[enforcement.by]);
    for (const reference of parentRefs) {
      const problem = await this.#ofGateway(reference);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  async #ofClass(className: string | undefined, controller: string): Promise<string | undefined> {
    const { items } = await this.#options.client.list(IngressClass);
    const classes = items.map((item) => classSchema.parse(item));
    const own = classes.find(({ metadata: { name, annotations } }) =>
      className === undefined ? annotations?.[isDefault] === 'true' : name === className,
    );
    if (own?.spec?.controller === controller) return undefined;
    const found = own ? `${own.metadata.name} (${own.spec?.controller ?? 'no controller'})` : 'missing';
    return `it needs an IngressClass of ${controller}, and that of environments is ${found}`;
  }

  async #ofGateway({ namespace, name }: { namespace: string; name: string }): Promise<string | undefined> {
    const { client } = this.#options;
    const gateway = await client.find(Gateway, { namespace, name });
    if (!gateway) return `the Gateway ${namespace}/${name} is missing`;
    const { gatewayClassName } = gatewaySchema.parse(gateway).spec;
    const found = await client.find(GatewayClass, { name: gatewayClassName });
    const controller = found && gatewayClassSchema.parse(found).spec.controllerName;
    if (controller === gatewayController) return undefined;
    return `it needs Gateways of ${gatewayController}, and the class ${gatewayClassName} is ${controller === undefined ? 'missing' : `of ${controller}`}`;
  }
}
