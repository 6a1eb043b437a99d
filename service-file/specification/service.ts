import { z } from 'zod';
import { serviceExtension } from '../x-coppice.ts';
import { build, grants, ulimits } from './build.ts';
import { deploy, devices } from './deploy.ts';
import {
  amount,
  command,
  flag,
  hosts,
  integer,
  list,
  map,
  mapOf,
  named,
  oneOf,
  text,
  textOrTexts,
  texts,
  variables,
} from './values.ts';

const blockLimits = list(map('a limit of a device', { path: text, rate: amount }));

const blkio = map('blkio_config', {
  device_read_bps: blockLimits,
  device_read_iops: blockLimits,
  device_write_bps: blockLimits,
  device_write_iops: blockLimits,
  weight: integer,
  weight_device: list(map('the weight of a device', { path: text, weight: integer })),
});

const dependency = map('a dependency', {
  condition: oneOf('service_started', 'service_healthy', 'service_completed_successfully'),
  required: flag,
  restart: flag,
});

const healthcheck = map('a health check', {
  disable: flag,
  interval: text,
  retries: integer,
  start_interval: text,
  start_period: text,
  test: textOrTexts,
  timeout: text,
});

const hookKeys = { command, environment: variables, privileged: flag, user: text, working_dir: text };
const hook = map('a hook', hookKeys);
const preStartHook = map('a hook', { ...hookKeys, image: text, per_replica: flag });

const develop = map('develop', {
  watch: list(
    map('a watched path', {
      action: oneOf('rebuild', 'sync', 'restart', 'sync+restart', 'sync+exec'),
      exec: hook,
      ignore: textOrTexts,
      include: textOrTexts,
      initial_sync: flag,
      path: text,
      target: text,
    }),
  ),
});

const network = map("a service's network", {
  aliases: texts,
  driver_opts: mapOf(text),
  gw_priority: amount,
  interface_name: text,
  ipv4_address: text,
  ipv6_address: text,
  link_local_ips: texts,
  mac_address: text,
  priority: amount,
});

const port = map('a port', {
  app_protocol: text,
  host_ip: text,
  mode: text,
  name: text,
  protocol: text,
  published: text,
  target: integer,
});

const mount = map('a mount', {
  bind: map('bind', {
    create_host_path: flag,
    propagation: text,
    recursive: oneOf('enabled', 'disabled', 'writable', 'readonly'),
    selinux: oneOf('z', 'Z'),
  }),
  consistency: text,
  image: map('image', { subpath: text }),
  read_only: flag,
  source: text,
  target: text,
  tmpfs: map('tmpfs', { mode: amount, size: amount }),
  type: oneOf('bind', 'volume', 'tmpfs', 'cluster', 'npipe', 'image'),
  volume: map('volume', { labels: variables, nocopy: flag, subpath: text }),
});

const envFile = map('an env file', { format: text, path: text, required: flag });

const modelUse = map("a service's model", { endpoint_var: text, model_var: text });

const provider = map('a provider', { options: mapOf(textOrTexts), type: text });

/** Returns a shape with the same schema for several keys, separated by spaces. */
function each(keys: string, schema: z.ZodType): Record<string, z.ZodType> {
  return Object.fromEntries(keys.split(/\s+/).map((key) => [key, schema]));
}

const ofOneKind = {
  ...each('annotations environment labels sysctls', variables),
  ...each('cap_add cap_drop device_cgroup_rules dns_opt expose external_links group_add links profiles', texts),
  ...each('security_opt volumes_from', texts),
  ...each('command dns dns_search entrypoint label_file tmpfs', textOrTexts),
  ...each('cgroup_parent container_name cpuset domainname hostname image ipc isolation mac_address network_mode', text),
  ...each('pid platform pull_policy pull_refresh_after restart runtime stop_grace_period stop_signal user', text),
  ...each('userns_mode uts working_dir', text),
  ...each('cpu_count cpu_percent cpu_period cpu_quota cpu_rt_period cpu_rt_runtime cpu_shares cpus mem_limit', amount),
  ...each('mem_reservation mem_swappiness memswap_limit pids_limit shm_size', amount),
  ...each('attach init oom_kill_disable privileged read_only stdin_open tty use_api_socket', flag),
};

/** Schema of a service, by the Compose Specification. */
export const service = map('a service', {
  ...ofOneKind,
  blkio_config: blkio,
  build,
  cgroup: oneOf('host', 'private'),
  configs: grants,
  credential_spec: map('credential_spec', { config: text, file: text, registry: text }),
  depends_on: z.union([texts, named(dependency)]),
  deploy,
  develop,
  devices: list(z.union([text, map('a device', { permissions: text, source: text, target: text })])),
  env_file: z.union([text, list(z.union([text, envFile]))]),
  extra_hosts: hosts,
  gpus: z.union([oneOf('all'), devices]),
  healthcheck,
  logging: map('logging', { driver: text, options: mapOf(text) }),
  models: z.union([texts, named(modelUse)]),
  networks: z.union([texts, named(network)]),
  oom_score_adj: integer,
  ports: list(z.union([text, port])),
  post_start: list(hook),
  pre_start: list(preStartHook),
  pre_stop: list(hook),
  provider,
  scale: integer,
  secrets: grants,
  storage_opt: mapOf(text),
  ulimits,
  volumes: list(z.union([text, mount])),
  'x-coppice': serviceExtension,
});
