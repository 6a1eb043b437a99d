import { describe, expect, test } from '@jest/globals';
import type { Service } from '../schema.ts';
import { oneService } from '../testing/one-service.ts';

describe('the container of a service', () => {
  test.each<[string, Partial<Service>]>([
    ['entrypoint: []\ncommand: [a, b]', { entrypoint: ['a', 'b'] }],
    ['entrypoint: ""\ncommand: a b', { entrypoint: ['a', 'b'] }],
    ['entrypoint: [a]\ncommand: []', { entrypoint: ['a'] }],
    ['user: "1000:2000"', { user: { uid: 1000, gid: 2000 } }],
    ['user: 1000', { user: { uid: 1000 } }],
    ['user: root:root', { user: { uid: 0, gid: 0 } }],
    ['group_add: [2000, "1000", 2000]', { groups: [1000, 2000] }],
    ['working_dir: /srv/../app', { workingDir: '/app' }],
    [
      'init: true\ntty: "true"\nstdin_open: true\nread_only: true',
      { init: true, tty: true, stdin: true, readOnly: true },
    ],
    ['stop_signal: SIGINT', { stopSignal: 'SIGINT' }],
    ['stop_signal: quit', { stopSignal: 'SIGQUIT' }],
    ['stop_signal: 15', { stopSignal: 'SIGTERM' }],
    ['stop_grace_period: 1m30s', { stopGracePeriodSeconds: 90 }],
    ['hostname: Web1', { hostname: 'web1' }],
    ['platform: linux/arm64/v8', { platform: 'linux/arm64/v8' }],
    ['build: { platforms: [linux/amd64] }', { platform: 'linux/amd64' }],
    [
      'cap_add: [CAP_CHOWN, net_bind_service]\ncap_drop: [ALL]',
      { capAdd: ['CHOWN', 'NET_BIND_SERVICE'], capDrop: ['ALL'] },
    ],
    ['sysctls: { net.ipv4.tcp_syncookies: 0 }', { sysctls: { 'net.ipv4.tcp_syncookies': '0' } }],
    ['sysctls: [net.ipv4.tcp_syncookies=0]', { sysctls: { 'net.ipv4.tcp_syncookies': '0' } }],
    ['labels: [a.b/c=d=e, f]', { labels: { 'a.b/c': 'd=e', f: '' } }],
    ['labels: { a: 1, b: }', { labels: { a: '1', b: '' } }],
    [
      'extra_hosts: ["a=10.0.0.1", "b:10.0.0.1", "c=[::1]", "d:::1"]',
      {
        extraHosts: [
          { ip: '10.0.0.1', hostnames: ['a', 'b'] },
          { ip: '::1', hostnames: ['c', 'd'] },
        ],
      },
    ],
    [
      'extra_hosts: { a: 10.0.0.1, b: [10.0.0.2] }',
      {
        extraHosts: [
          { ip: '10.0.0.1', hostnames: ['a'] },
          { ip: '10.0.0.2', hostnames: ['b'] },
        ],
      },
    ],
    ['scale: 3', { replicas: 3 }],
    ['scale: 2\ndeploy: { replicas: 2, mode: replicated }', { replicas: 2 }],
    ['deploy: { replicas: 0 }', { replicas: 0 }],
    [
      'cpus: 0.50\nmem_limit: 1.5G\nmem_reservation: 10240k',
      {
        resources: { requests: { memory: '10Mi' }, limits: { cpu: '500m', memory: '1536Mi' } },
      },
    ],
    [
      'deploy: { resources: { limits: { cpus: "2", memory: 1g }, reservations: { cpus: .25, memory: 6291457 } } }',
      {
        resources: { requests: { cpu: '250m', memory: '6291457' }, limits: { cpu: '2', memory: '1Gi' } },
      },
    ],
    [
      'mem_limit: 64m\ndeploy: { resources: { limits: { memory: 64MB } } }',
      {
        resources: { requests: {}, limits: { memory: '64Mi' } },
      },
    ],
    ['cpus: 0\nmem_limit: 0', { resources: { requests: {}, limits: {} } }],
  ])('%s', async (lines, expected) => {
    const { service, errorLines, warningLines } = await oneService(`${lines}\nports: ["1"]`);
    expect(errorLines).toEqual([]);
    expect(warningLines).toEqual([]);
    expect(service).toMatchObject(expected);
  });
});

describe('ignores and reports', () => {
  test.each<[string, string]>([
    ['user: postgres', '1:7 user ignored: "postgres" is a name'],
    ['user: "${NOBODY}:${NOBODY}"', '1:7 user ignored: it names no user'],
    ['user: 1000:staff', '1:7 user the group "staff" is ignored'],
    ['group_add: [video]', '1:12 group_add the group "video" is ignored'],
    ['hostname: web.example.com', '1:11 hostname only "web" of it is used'],
    ['hostname: my_host', '1:11 hostname ignored: a host name has'],
    ['sysctls: { net.core.somaxconn: 1024 }', '1:12 sysctls["net.core.somaxconn"] ignored:'],
    ['extra_hosts: ["host.docker.internal:host-gateway"]', '1:15 extra_hosts[0] ignored: there is no Docker host'],
    [
      'deploy: { mode: global }',
      '1:17 deploy.mode ignored: the service runs with its number of replicas, not once on each node',
    ],
    ['build: { platforms: [linux/amd64, linux/arm64] }', '1:21 build.platforms ignored: an image is built'],
    ['restart: "no"', '1:1 restart ignored: it has ports or a health check'],
    ['healthcheck: { interval: 1s }', '1:14 healthcheck ignored: it has no test'],
    ['pid: private', '1:1 pid ignored: each service runs in a pod of its own'],
    ['init: true\nstop_signal: SIGINT', '2:1 stop_signal ignored with init: true'],
    ['runtime: runc', '1:1 runtime ignored: the cluster decides'],
    ['security_opt: ["no-new-privileges:true"]', '1:1 security_opt ignored: the cluster sets security profiles'],
    ['logging: { driver: none, options: { a: b } }', '1:1 logging ignored: the cluster keeps the logs'],
    ['environment: { A: True }', '1:19 environment.A is read as the boolean true'],
    ['x-own: { a: b }', '1:1 x-own ignored: Coppice does not define this key'],
  ])('%s', async (lines, expected) => {
    const { service, errorLines, warningLines } = await oneService(`${lines}\nports: ["1"]`);
    expect(errorLines).toEqual([]);
    expect(service).toBeDefined();
    expect(warningLines).toContainEqual(expect.stringContaining(expected));
  });
});

describe('refuses', () => {
  test.each<[string, string]>([
    ['entrypoint: []', "1:13 entrypoint it removes the image's entrypoint"],
    ['working_dir: app', '1:14 working_dir "app" is not absolute'],
    ['init: maybe', '1:7 init must be true or false'],
    ['stop_signal: SIGNOTHING', '1:14 stop_signal "SIGNOTHING" is not a signal'],
    ['stop_grace_period: 2h', '1:20 stop_grace_period must be from 0s to 1h'],
    ['platform: wasi/wasm', '1:11 platform "wasi/wasm" is not a platform'],
    ['cap_add: [SYS_ADMIN]', '1:11 cap_add[0] refused: SYS_ADMIN affects more than'],
    ['cap_add: [ALL]', '1:11 cap_add[0] refused: ALL affects more than'],
    ['cap_add: ["a b"]', '1:11 cap_add[0] "a b" is not a capability'],
    ['privileged: true', '1:1 privileged refused: containers get no access'],
    ['devices: [/dev/kvm]', '1:1 devices refused: containers get no access'],
    ['pid: host', '1:1 pid refused: containers get no access'],
    ['ipc: "service:db"', '1:1 ipc refused: containers get no access'],
    ['uts: host', '1:1 uts refused: containers get no access'],
    ['cgroup: host', '1:1 cgroup refused: containers get no access'],
    ['runtime: nvidia', '1:1 runtime refused: runc is the only runtime'],
    ['use_api_socket: true', '1:1 use_api_socket refused: there is no Docker socket'],
    ['volumes_from: [db]', '1:1 volumes_from refused:'],
    ['gpus: all', '1:1 gpus refused: GPUs are not supported'],
    [
      'deploy: { resources: { reservations: { devices: [{ capabilities: [gpu] }] } } }',
      '1:40 deploy.resources.reservations.devices refused:',
    ],
    ['extra_hosts: [a]', '1:15 extra_hosts[0] "" is not an address'],
    ['extra_hosts: ["a_b=10.0.0.1"]', '1:15 extra_hosts[0] "a_b" is not a host name'],
    ['scale: 101', '1:8 scale must be a whole number from 0 to 100'],
    ['scale: 2\ndeploy: { replicas: 3 }', '1:1 scale differs from deploy.replicas'],
    ['cpus: many', '1:7 cpus "many" is not a number of processors'],
    ['mem_limit: 5m', '1:12 mem_limit "5m" is too little memory'],
    ['mem_limit: 5q', '1:12 mem_limit "5q" is not an amount of memory'],
    ['mem_limit: 64m\nmem_reservation: 65m', '2:18 mem_reservation the reservation exceeds the limit'],
    ['mem_limit: 64m\ndeploy: { resources: { limits: { memory: 65m } } }', '1:1 mem_limit differs from'],
    ['deploy: { mode: both }', '1:17 deploy.mode "both" is not a mode'],
    [
      'deploy: { restart_policy: { condition: never } }',
      '1:40 deploy.restart_policy.condition "never" is not a condition',
    ],
    ['build: { dockerfile_inline: FROM a }', '1:10 build.dockerfile_inline refused: write it into a file'],
    ['build: { additional_contexts: { a: ../b } }', '1:10 build.additional_contexts refused: only the context'],
    ['build: { ssh: [default] }', '1:10 build.ssh refused: there is no SSH agent'],
    ['build: { network: host }', '1:10 build.network refused:'],
  ])('%s', async (lines, expected) => {
    const { service, errorLines } = await oneService(lines);
    expect(service).toBeUndefined();
    expect(errorLines).toContainEqual(expect.stringContaining(expected));
  });

  test('reports no problem for keys without effect', async () => {
    const { errorLines, warningLines } = await oneService(
      'privileged: false\ndevices: []\nuse_api_socket: "false"\ngpus:\nports: ["1"]',
    );
    expect([...errorLines, ...warningLines]).toEqual([]);
  });
});
