import { keyTable } from './key-table.ts';

export const deployKeys = keyTable({
  of: 'deploy',
  path: 'services.*.deploy',
  supported: 'mode replicas resources restart_policy',
  ignored: {
    endpoint_mode: 'services find each other by the DNS of the cluster',
    labels: 'use the labels of the service',
    placement: 'the cluster decides where a service runs',
    'update_config rollback_config': 'a new version is rolled out while the previous one still responds',
  },
});

export const deployResourcesKeys = keyTable({
  of: 'deploy.resources',
  path: 'services.*.deploy.resources',
  supported: 'limits reservations',
});

export const limitsKeys = keyTable({
  of: 'the limits',
  path: 'services.*.deploy.resources.limits',
  supported: 'cpus memory',
  ignored: { pids: 'the cluster limits the number of processes' },
});

export const reservationsKeys = keyTable({
  of: 'the reservations',
  path: 'services.*.deploy.resources.reservations',
  supported: 'cpus memory',
  refused: { 'devices generic_resources': 'devices and GPUs are not supported: remove it' },
});

export const restartPolicyKeys = keyTable({
  of: 'a restart policy',
  path: 'services.*.deploy.restart_policy',
  supported: 'condition',
  ignored: { 'delay max_attempts window': 'Kubernetes restarts containers indefinitely, with increasing delays' },
});
