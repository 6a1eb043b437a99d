import { z } from 'zod';

/** What wakes a sleeping environment. */
const wakeOn = z.enum(['visit', 'login', 'never']);

const routeSchema = z.object({
  /** A prefix of paths, in whole segments. */
  path: z.string(),
  service: z.string(),
  port: z.int(),
});
export type Route = z.infer<typeof routeSchema>;

/** An environment whose requests reach the waker. */
export const knownEnvironmentSchema = z.object({
  /** Key of the Environment: `namespace/name`. */
  key: z.string(),
  /** Stands for the account that the environment counts for; the waker learns no accounts. */
  tenant: z.string().optional(),
  /** ID in the REST API, for people. */
  id: z.string(),
  /**
   * `asleep`: its services are stopped; `waking`: they start; `awake`: they run, and visitors are watched for; `left`: they
   * run, and only requests that were on their way still arrive.
   */
  mode: z.enum(['asleep', 'waking', 'awake', 'left']),
  wakeOn,
  /** Page of the environment in the panel. */
  panelUrl: z.string(),
  /** Public routes by host name, without a port. */
  hosts: z.record(z.string(), z.array(routeSchema)),
  services: z.array(z.object({ name: z.string(), ready: z.boolean() })),
  /** IP addresses of ready pods by public service. */
  backends: z.record(z.string(), z.array(z.string())),
});
export type KnownEnvironment = z.infer<typeof knownEnvironmentSchema>;

/** From the operator to the waker. */
export const operatorMessageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('environment'), environment: knownEnvironmentSchema }),
  z.object({ type: z.literal('gone'), key: z.string() }),
  /** Everything that the operator knew when the waker connected has been sent: if it is complete, there is nothing else. */
  z.object({ type: z.literal('synced'), isComplete: z.boolean().default(true) }),
]);
export type OperatorMessage = z.infer<typeof operatorMessageSchema>;

/** From the waker to the operator. */
export const wakerMessageSchema = z.object({
  type: z.literal('visit'),
  /** Key of the Environment. */
  key: z.string(),
});
export type WakerMessage = z.infer<typeof wakerMessageSchema>;

/** Port on which the waker receives visitors' requests; EndpointSlices name it, and the admission policy. */
export const VISITORS_PORT = 3002;
/** Port on which the operator connects to the waker. */
export const CONTROL_PORT = 3003;
