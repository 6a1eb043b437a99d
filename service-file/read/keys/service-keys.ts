import { keyTable } from './key-table.ts';

const OWN_POD = 'each service runs in a pod of its own';
const NODE_TUNING = "it tunes the machine that Compose runs on, and the cluster's nodes are shared";
const WINDOWS = 'it is for Windows containers';
const CPUS = 'say it as cpus or deploy.resources';
const NO_HOST = 'a container gets nothing of the machine that it runs on';

export const serviceKeys = keyTable({
  of: 'a service',
  path: 'services.*',
  supported: `
    build cap_add cap_drop command configs depends_on deploy entrypoint env_file environment expose extends extra_hosts
    group_add healthcheck hostname image init labels links mem_limit mem_reservation cpus network_mode networks
    platform ports profiles read_only restart scale secrets shm_size stdin_open stop_grace_period stop_signal sysctls
    tmpfs tty user volumes working_dir x-coppice`,
  ignored: {
    annotations: 'no container runtime here reads them; labels are kept',
    attach: 'the logs of every service are kept',
    'blkio_config cpuset mem_swappiness memswap_limit oom_kill_disable oom_score_adj pids_limit storage_opt ulimits':
      NODE_TUNING,
    cgroup_parent: NODE_TUNING,
    'cpu_period cpu_quota cpu_rt_period cpu_rt_runtime cpu_shares': CPUS,
    'cpu_count cpu_percent': `${WINDOWS}; ${CPUS}`,
    container_name: "Kubernetes names the containers; other services reach it by the service's name",
    develop: "docker compose watch is for a folder on a developer's machine; each push is built here",
    'dns dns_opt dns_search': "the cluster's DNS finds the other services",
    domainname: 'host names have no domain of their own here; other services reach it by its name and its aliases',
    external_links: 'there is nothing outside of the environment to link to',
    isolation: WINDOWS,
    label_file: 'labels are read from labels only',
    logging: 'the logs of every service are kept by the cluster, and Coppice shows them',
    mac_address: 'the cluster gives out the addresses',
    'pull_policy pull_refresh_after': 'Coppice decides when an image is pulled',
    security_opt: "the cluster's own profiles hold for each container, and no-new-privileges always does",
    userns_mode: 'the cluster decides on user namespaces',
  },
  refused: {
    credential_spec: WINDOWS,
    'devices device_cgroup_rules': `${NO_HOST}: remove it`,
    gpus: 'there are no GPUs to ask for: remove it',
    models: 'Coppice runs no AI models: run a model server as a service of its own',
    'post_start pre_stop': 'commands beside the main process are not run: put them into the entrypoint',
    pre_start: 'write it as a job: x-coppice.jobs',
    privileged: `${NO_HOST}, and no rights over it: name what it needs in cap_add`,
    provider: 'only containers are run: remove it',
    use_api_socket: "there is no engine's socket, and a container may not start others",
    volumes_from: `${OWN_POD}: name the same volumes in volumes`,
  },
  unless: {
    'cgroup uts': { why: OWN_POD, unless: { values: /^host$/, why: NO_HOST } },
    'ipc pid': {
      why: OWN_POD,
      unless: { values: /^(host$|service:|container:)/, why: `${NO_HOST}, nor of another container` },
    },
    runtime: {
      why: 'the cluster decides which runtime starts the containers',
      unless: { values: /^(?!runc$|io\.containerd\.runc\.v2$)/, why: 'there is no other runtime than runc' },
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
  ignored: { start_interval: 'until it first succeeds it is asked every second' },
});

export const portKeys = keyTable({
  of: 'a port',
  path: 'services.*.ports[]',
  supported: 'target published protocol host_ip',
  ignored: {
    'name app_protocol': 'it has no effect in Compose either',
    mode: 'nothing is published on a node: the environment has a web address of its own',
  },
});

export const serviceNetworkKeys = keyTable({
  of: "a service's network",
  path: 'services.*.networks.*',
  supported: 'aliases',
  ignored: {
    'ipv4_address ipv6_address link_local_ips mac_address':
      "the cluster gives out the addresses: use the service's name",
    'driver_opts interface_name priority gw_priority': 'a pod has one network interface',
  },
});

export const grantKeys = keyTable({
  of: 'a grant of a config or secret',
  path: 'services.*.configs[], services.*.secrets[], services.*.build.secrets[]',
  supported: 'source target mode',
  ignored: { 'uid gid': 'the files belong to root; mode says who can read them' },
});
