import { amount, integer, list, map, oneOf, text, texts, variables } from './values.ts';

/** Reservations of devices, such as GPUs. */
export const devices = list(
  map('a device', { capabilities: texts, count: text, device_ids: texts, driver: text, options: variables }),
);

const update = map('how it is updated', {
  delay: text,
  failure_action: text,
  max_failure_ratio: amount,
  monitor: text,
  order: oneOf('start-first', 'stop-first'),
  parallelism: integer,
});

const genericResources = list(
  map('a resource', { discrete_resource_spec: map('a resource', { kind: text, value: amount }) }),
);

/** Schema of `deploy`, by the Compose Specification. */
export const deploy = map('deploy', {
  endpoint_mode: text,
  labels: variables,
  mode: text,
  placement: map('placement', {
    constraints: texts,
    max_replicas_per_node: integer,
    preferences: list(map('a preference', { spread: text })),
  }),
  replicas: integer,
  resources: map('deploy.resources', {
    limits: map('the limits', { cpus: amount, memory: amount, pids: integer }),
    reservations: map('the reservations', {
      cpus: amount,
      devices,
      generic_resources: genericResources,
      memory: amount,
    }),
  }),
  restart_policy: map('a restart policy', { condition: text, delay: text, max_attempts: integer, window: text }),
  rollback_config: update,
  update_config: update,
});
