/** Services of one environment, each of which fails for a different reason, with the expected message. */
export const FAILING_SERVICES: Record<string, { service: string; words: RegExp }> = {
  missing: {
    service: '{ image: "busybox:nosuch" }',
    words: /missing: its image busybox:nosuch cannot be pulled: the image does not exist. Check its name and its tag/,
  },
  nowhere: {
    service: '{ image: "nowhere.example/x:1" }',
    words: /nowhere: its image nowhere.example\/x:1 cannot be pulled: its registry does not respond/,
  },
  crash: {
    service: '{ image: "busybox:1", command: [sh, -c, "echo cannot start; exit 3"] }',
    words: /crash: it exits and is restarted: exit code 3: cannot start/,
  },
  ends: { service: '{ image: "busybox:1", command: ["true"] }', words: /ends: it exits with code 0/ },
  typo: {
    service: '{ image: "busybox:1", command: [serve-me] }',
    words: /typo: it exits and is restarted: it cannot be started\. Check its command .*serve-me.*not found/,
  },
  hungry: {
    service: '{ image: "busybox:1", command: [tail, /dev/zero], deploy: { resources: { limits: { memory: 16M } } } }',
    words: /hungry: it exits and is restarted: it (ran out of memory and )?was killed.*\. Raise [\w.]+ \(now \d+\w*\)/,
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
    words:
      /unbound: its volume fast does not exist yet \(Pending, 1Gi, storage class nosuch\)\. Check its storage class/,
  },
  roomy: {
    service: '{ image: "busybox:1", command: [sleep, 1d], deploy: { resources: { reservations: { cpus: "7" } } } }',
    words: /roomy: no node has enough cpu left for it\. Reserve less/,
  },
  greedy: {
    service: '{ image: "busybox:1", command: [sleep, 1d], deploy: { resources: { reservations: { memory: 17G } } } }',
    words: /greedy: the environment's quota is used up \(requested .*requests.memory=1\d+.* Request less/,
  },
};

/** Returns the service file with all of them, and one that becomes ready. */
export function failingServicesFile(): string {
  const services = Object.entries(FAILING_SERVICES).map(([name, { service }]) => `  ${name}: ${service}\n`);
  return [
    'services:\n  fine: { image: "busybox:1", command: [sleep, 1d] }\n',
    ...services,
    'volumes:\n  fast: { x-coppice: { class: nosuch } }\n',
  ].join('');
}
