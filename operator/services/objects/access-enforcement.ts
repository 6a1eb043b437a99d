import { z } from 'zod';

/** Which component asks the API whether it may pass a request to an environment with restricted access. */
export const accessEnforcementSchema = z.discriminatedUnion('by', [
  /** Traefik as Ingress controller, with the middleware of this name. */
  z.strictObject({ by: z.literal('traefik'), middleware: z.string().min(1) }),
  /** Traefik as Gateway: each namespace needs a middleware of its own, with this `spec.forwardAuth`. */
  z.strictObject({ by: z.literal('traefik-gateway'), forwardAuth: z.record(z.string(), z.unknown()) }),
  /** ingress-nginx. `host` is the name within the cluster of the API's Service for this purpose. */
  z.strictObject({ by: z.literal('ingress-nginx'), host: z.string().min(1) }),
]);
export type AccessEnforcement = z.infer<typeof accessEnforcementSchema>;
