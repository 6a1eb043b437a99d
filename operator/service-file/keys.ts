import type { KeyTable } from './read.ts';

/** The keys of the Compose Specification (compose-go's schema of July 2026) that are not supported yet, by map. */
const words = (text: string): string[] => text.trim().split(/\s+/);

export const topLevelKeys: KeyTable = {
  of: 'a service file',
  supported: ['services'],
  notYet: words('include models networks volumes secrets configs x-coppice'),
  ignored: new Map([
    ['name', 'every environment has its own name'],
    ['version', 'the Compose Specification has no versions any more'],
  ]),
};

export const serviceKeys: KeyTable = {
  of: 'a service',
  supported: words('build image command entrypoint environment ports expose depends_on healthcheck restart x-coppice'),
  notYet: words(`
    annotations attach blkio_config cap_add cap_drop cgroup cgroup_parent configs cpu_count cpu_percent cpu_period
    cpu_quota cpu_rt_period cpu_rt_runtime cpu_shares cpus cpuset credential_spec deploy develop device_cgroup_rules
    devices dns dns_opt dns_search domainname env_file extends external_links extra_hosts gpus group_add hostname init
    ipc isolation label_file labels links logging mac_address mem_limit mem_reservation mem_swappiness memswap_limit
    models network_mode networks oom_kill_disable oom_score_adj pid pids_limit platform post_start pre_start pre_stop
    privileged profiles provider pull_policy pull_refresh_after read_only runtime scale secrets security_opt shm_size
    stdin_open stop_grace_period stop_signal storage_opt sysctls tmpfs tty ulimits use_api_socket user userns_mode uts
    volumes volumes_from working_dir`),
  ignored: new Map([
    ['container_name', "Kubernetes names the containers; other services reach it by the service's name"],
  ]),
};

export const buildKeys: KeyTable = {
  of: 'build',
  supported: words('context dockerfile target args'),
  notYet: words(`
    additional_contexts cache_from cache_to dockerfile_inline entitlements extra_hosts isolation labels network no_cache
    no_cache_filter platforms privileged provenance pull sbom secrets shm_size ssh tags ulimits`),
};

export const portKeys: KeyTable = {
  of: 'a port',
  supported: words('target published protocol host_ip'),
  notYet: words('name mode app_protocol'),
};

export const dependencyKeys: KeyTable = {
  of: 'a dependency',
  supported: words('condition required restart'),
  notYet: [],
};

export const healthcheckKeys: KeyTable = {
  of: 'a health check',
  supported: words('test interval timeout retries start_period disable'),
  notYet: words('start_interval'),
};

export const coppiceKeys: KeyTable = {
  of: "a service's x-coppice",
  supported: words('public'),
  notYet: words('healthcheck volumes seed jobs watch tests'),
};

export const publicKeys: KeyTable = {
  of: 'a public route',
  supported: words('port path'),
  notYet: words('alias'),
};
