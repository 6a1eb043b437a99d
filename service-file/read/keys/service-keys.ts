import { keyTable } from './key-table.ts';

const ownPod = 'each service runs in a pod of its own';
const nodeTuning = 'nodes are shared, so a service cannot tune them';
const windows = 'it is for Windows containers';
const cpus = 'use cpus or deploy.resources';
const noHost = 'containers get no access to the node';

export const serviceKeys = keyTable({
  of: 'a service',
  path: 'services.*',
  supported: `
    build cap_add cap_drop command configs depends_on deploy entrypoint env_file environment expose extends extra_hosts
    group_add healthcheck hostname image init labels links mem_limit mem_reservation cpus network_mode networks
    platform ports profiles read_only restart scale secrets shm_size stdin_open stop_grace_period stop_signal sysctls
    tmpfs tty user volumes working_dir x-coppice`,
  ignored: {
    annotations: 'no container runtime reads them here; use labels',
    attach: 'the logs of every service are kept',
    'blkio_config cpuset mem_swappiness memswap_limit oom_kill_disable oom_score_adj pids_limit storage_opt ulimits':
      nodeTuning,
    cgroup_parent: nodeTuning,
    'cpu_period cpu_quota cpu_rt_period cpu_rt_runtime cpu_shares': cpus,
    'cpu_count cpu_percent': `${windows}; ${cpus}`,
    container_name: "Kubernetes names containers; other services use the service's name",
    develop: 'docker compose watch is for local folders; Coppice builds each push',
    'dns dns_opt dns_search': "the cluster's DNS finds the other services",
    domainname: 'services are reached by their name and aliases',
    external_links: 'a service can link only to services of its environment',
    isolation: windows,
    label_file: 'use labels',
    logging: 'the cluster keeps the logs of every service, and Coppice shows them',
    mac_address: 'the cluster assigns addresses',
    'pull_policy pull_refresh_after': 'Coppice decides when an image is pulled',
    security_opt: 'the cluster sets security profiles, and no-new-privileges is always on',
    userns_mode: 'the cluster decides on user namespaces',
  },
  refused: {
    credential_spec: windows,
    'devices device_cgroup_rules': `${noHost}: remove it`,
    gpus: 'GPUs are not supported: remove it',
    models: 'Coppice runs no AI models: run a model server as a service of its own',
    'post_start pre_stop': 'lifecycle commands are not run: put them into the entrypoint',
    pre_start: 'write it as a job: x-coppice.jobs',
    privileged: `${noHost}: name the capabilities it needs in cap_add`,
    provider: 'a service must be a container: remove it',
    use_api_socket: 'there is no Docker socket, and containers cannot start other containers',
    volumes_from: `${ownPod}: name the same volumes in volumes`,
  },
  unless: {
    'cgroup uts': { why: ownPod, unless: { values: /^host$/, why: noHost } },
    'ipc pid': {
      why: ownPod,
      unless: { values: /^(host$|service:|container:)/, why: `${noHost} or to another container` },
    },
    runtime: {
      why: 'the cluster decides which runtime starts the containers',
      unless: { values: /^(?!runc$|io\.containerd\.runc\.v2$)/, why: 'runc is the only runtime' },
    },
  },
});

export const dependencyKeys = keyTable({
  of: 'a dependency',
  path: 'services.*.depends_on.*',
  supported: 'condition required',
  ignored: { restart: 'a service is not restarted because another one is' },
});

export const envFileKeys = keyTable({
  of: 'an env file',
  path: 'services.*.env_file[]',
  supported: 'path required format',
});

export const extendsKeys = keyTable({
  of: 'extends',
  path: 'services.*.extends',
  supported: 'service file',
});

export const healthcheckKeys = keyTable({
  of: 'a health check',
  path: 'services.*.healthcheck',
  supported: 'test interval timeout retries start_period disable',
  ignored: { start_interval: 'until the first success the check runs every second' },
});

export const portKeys = keyTable({
  of: 'a port',
  path: 'services.*.ports[]',
  supported: 'target published protocol host_ip',
  ignored: {
    'name app_protocol': 'it has no effect in Compose either',
    mode: 'ports are not published on nodes: the environment has its own web address',
  },
});

export const serviceNetworkKeys = keyTable({
  of: "a service's network",
  path: 'services.*.networks.*',
  supported: 'aliases',
  ignored: {
    'ipv4_address ipv6_address link_local_ips mac_address': "the cluster assigns addresses: use the service's name",
    'driver_opts interface_name priority gw_priority': 'a pod has one network interface',
  },
});

export const grantKeys = keyTable({
  of: 'a grant of a config or secret',
  path: 'services.*.configs[], services.*.secrets[], services.*.build.secrets[]',
  supported: 'source target mode',
  ignored: { 'uid gid': 'the files belong to root; mode says who can read them' },
});
