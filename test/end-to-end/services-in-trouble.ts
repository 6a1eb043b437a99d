/** Services of one environment, each of which does not come up for a reason of its own; and the words for it. */
export const servicesInTrouble: Record<string, { service: string; words: RegExp }> = {
  missing: {
    service: '{ image: "busybox:nosuch" }',
    words: /missing: its image busybox:nosuch cannot be pulled: there is no such image: see to its name and its tag/,
  },
  nowhere: {
    service: '{ image: "nowhere.example/x:1" }',
    words: /nowhere: its image nowhere.example\/x:1 cannot be pulled: its registry does not answer/,
  },
  crash: {
    service: '{ image: "busybox:1", command: [sh, -c, "echo cannot start; exit 3"] }',
    words: /crash: it ends and is started again: exit code 3: cannot start/,
  },
  ends: { service: '{ image: "busybox:1", command: ["true"] }', words: /ends: it ends \(exit code 0\)/ },
  typo: {
    service: '{ image: "busybox:1", command: [serve-me] }',
    words: /typo: it ends and is started again: it cannot be started: see to its command .*serve-me.*not found/,
  },
  hungry: {
    service: '{ image: "busybox:1", command: [tail, /dev/zero], deploy: { resources: { limits: { memory: 16M } } } }',
    words:
      /hungry: it ends and is started again: it (ran out of memory and )?was killed.*: raise [\w.]+ \(now \d+\w*\)/,
  },
  ill: {
    service: '{ image: "busybox:1", command: [sleep, 1d], healthcheck: { test: [CMD, "false"], interval: 1h } }',
    words: /ill: it runs, but is not ready: its health check \(false\) has not succeeded yet/,
  },
  deaf: {
    service: '{ image: "busybox:1", command: [sleep, 1d], ports: ["8080:8080"] }',
    words: /deaf: it runs, but is not ready: nothing listens on its port 8080/,
  },
  unbound: {
    service: '{ image: "busybox:1", command: [sleep, 1d], volumes: ["fast:/data"] }',
    words: /unbound: its volume fast is not there yet \(Pending, 1Gi, storage class nosuch\): see to its storage class/,
  },
  roomy: {
    service: '{ image: "busybox:1", command: [sleep, 1d], deploy: { resources: { reservations: { cpus: "7" } } } }',
    words: /roomy: no node has enough cpu left for it: reserve less/,
  },
  greedy: {
    service: '{ image: "busybox:1", command: [sleep, 1d], deploy: { resources: { reservations: { memory: 17G } } } }',
    words: /greedy: the environment's quota is used up \(asked for .*requests.memory=1\d+.* ask for less/,
  },
};

/** The service file with all of them, and one that comes up. */
export function fileInTrouble(): string {
  const services = Object.entries(servicesInTrouble).map(([name, { service }]) => `  ${name}: ${service}\n`);
  return [
    'services:\n  fine: { image: "busybox:1", command: [sleep, 1d] }\n',
    ...services,
    'volumes:\n  fast: { x-coppice: { class: nosuch } }\n',
  ].join('');
}
