import { z } from 'zod';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import { IngressClass } from '../../../kubernetes/resource-type.ts';

/** Value of `spec.controller` of Traefik's IngressClass. */
const traefik = 'traefik.io/ingress-controller';
/** Marks the class of Ingresses that name none. */
const isDefault = 'ingressclass.kubernetes.io/is-default-class';
/** How long a result is used, in milliseconds: classes change with the installation of an Ingress controller. */
const keptMs = 60_000;

const classSchema = z.looseObject({
  metadata: z.looseObject({ name: z.string(), annotations: z.record(z.string(), z.string()).optional() }),
  spec: z.looseObject({ controller: z.string().optional() }).optional(),
});

export interface ForwardAuthOptions {
  client: Pick<ClusterClient, 'list'>;
  ingress: {
    className?: string | undefined;
    parentRefs?: readonly unknown[];
    /** Name of the Traefik middleware that asks the API; absent if the chart found no Traefik. */
    accessMiddleware?: string | undefined;
  };
  now: () => Date;
}

/** Determines whether the Ingress controller asks the API about each request. */
export class ForwardAuth {
  readonly #options: ForwardAuthOptions;
  #known: { at: number; problem: string | undefined } | undefined;

  constructor(options: ForwardAuthOptions) {
    this.#options = options;
  }

  /** Returns why the access to environments cannot be restricted; undefined if it can. */
  async problem(): Promise<string | undefined> {
    const at = this.#options.now().getTime();
    if (this.#known && at - this.#known.at < keptMs) return this.#known.problem;
    const problem = await this.#find();
    this.#known = { at, problem };
    return problem;
  }

  /** An annotation that another controller ignores would leave the environment open, so its class is checked. */
  async #find(): Promise<string | undefined> {
    const { client, ingress } = this.#options;
    const { className, parentRefs = [], accessMiddleware } = ingress;
    if (parentRefs.length > 0) return 'Gateways (ingress.parentRefs) are not supported';
    if (accessMiddleware === undefined)
      return 'the installation has no Traefik middleware for it (environments.access.middleware)';
    const { items } = await client.list(IngressClass);
    const classes = items.map((item) => classSchema.parse(item));
    const own = classes.find(({ metadata: { name, annotations } }) =>
      className === undefined ? annotations?.[isDefault] === 'true' : name === className,
    );
    if (own?.spec?.controller === traefik) return undefined;
    const found = own ? `${own.metadata.name} (${own.spec?.controller ?? 'no controller'})` : 'missing';
    return `it needs an IngressClass of Traefik, and that of environments is ${found}`;
  }
}
