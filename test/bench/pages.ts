import type { MeasurementsPage } from './measurements.ts';

export const PERFORMANCE: MeasurementsPage = {
  title: 'Measured: performance',
  text:
    'Medians of `npm run bench`, with their ratios to a baseline of the same run. ' +
    '[Performance](../explanation/performance.md) explains them and compares them with the targets.',
  sections: [
    {
      title: 'Builds',
      text:
        "Spawn to page for a service whose Dockerfile sleeps 3 s, beside a script's Job and rollout and beside git and " +
        'buildctl without pods.',
      parts: {
        builds: 'a new commit',
        'one-service': 'one of two services changed',
        'built-commit': 'a commit already built',
      },
      rows: 'figures',
    },
    {
      title: 'From push to page',
      text: 'A push to the branch of a running environment, with the Dockerfile of the builds above.',
      parts: { push: 'a push' },
      rows: 'figures',
    },
    {
      title: 'Applications',
      text:
        'From the delivery of a push, or a request, to the page of an application with dependencies, beside Docker Compose ' +
        'from changed files to the page. Both get packages from one local cache, and have no cache of an earlier round: ' +
        "a first build includes the start of Coppice's builder and its pull of the base image, which Docker has.",
      parts: { applications: 'time' },
      rows: 'figures',
    },
    {
      title: 'Many environments at once',
      text:
        'Two services each, all objects but pods (`scale: 0`); the 10,000 have one service without a port. The plain ' +
        'client writes the same objects and nothing else. On separate cores, one belongs to Coppice with Git server and ' +
        'Redis, or to the plain client, and the other to the rest of the cluster.',
      parts: {
        'scale-100': '100',
        'separate-cores-100': '100 on separate cores',
        'scale-1000': '1,000',
        'small-10000': '10,000 small',
      },
      rows: 'figures',
    },
    {
      title: 'Many environments deleted at once',
      text:
        'Environments as above are deleted until their namespaces are gone, beside namespaces with the same objects, as by ' +
        '`kubectl delete namespace`.',
      parts: { deletion: '100', 'deletion-1000': '1,000' },
      rows: 'figures',
    },
    {
      title: 'Many groups at once',
      text:
        '19 groups of different accounts spawn, follow logs, rebuild, delete and read, beside one that does everything ' +
        'that its limits allow: changes at 1,200 requests a minute, deliveries, streams, logs, and builds that use all ' +
        'processor time.',
      parts: { 'many-groups': 'time' },
      rows: 'figures',
    },
    {
      title: 'Reads at 10,000 environments',
      text: 'Each GET of the API, 8 at a time, with 10,000 environments and with 10.',
      parts: { 'reads-10000': 'rate, p50, p99' },
      rows: 'figures',
    },
    {
      title: 'Change stream',
      text:
        'An environment that 1,000 event streams of 100 members see is changed twice a second, through the Ingress: the only ' +
        "one, or one of 10,000 in their ten groups. There, half of the streams' browsers show a group, half a repository.",
      parts: {
        'streams-1000': '1,000 streams',
        'streams-at-10000': '1,000 streams, 10,000 environments',
        'panel-changes': 'one browser',
      },
      rows: 'figures',
    },
    {
      title: 'The panel',
      text: 'In Chromium with software rendering, with the API on a local port and a cluster in memory.',
      parts: { panel: 'panel' },
      rows: 'figures',
    },
    {
      title: 'The command line',
      text: 'From start to end of the process, with a server on a local port, beside a start of Node.js that does nothing.',
      parts: { cli: 'time' },
      rows: 'figures',
    },
    {
      title: 'Sleep',
      text:
        'An environment of one service is put to sleep and visited, alone and under traffic, beside a bare pod of the same ' +
        'image. Sleeping environments have a public service without pods.',
      parts: { sleep: 'one environment', 'sleeping-1000': '1,000' },
      rows: 'figures',
    },
    {
      title: 'Build logs',
      text: 'Four simulated containers write 50,000 lines a second to 50 viewers, without kubelet and API server.',
      parts: { logs: 'build log' },
      rows: 'figures',
    },
    {
      title: 'A reusable environment',
      text: 'PostgreSQL with a table of 1 GiB, copied and filled by one SQL statement, on local storage.',
      parts: { reusable: '1 GiB' },
      rows: 'figures',
    },
    {
      title: "A year's growth",
      text:
        'A tenth of a company of 40 teams: every month each team creates two environments with commits of their own, which are ' +
        'built and deleted. One more environment lasts all year, and gets a commit each month. The first two months fill caches.',
      parts: { growth: 'left behind' },
      rows: 'figures',
    },
    {
      title: 'Webhook deliveries',
      text: '200 signed deliveries for one repository, each of another push, through the Ingress.',
      parts: { webhooks: 'time to answer' },
      rows: 'figures',
    },
  ],
};

export const RELIABILITY: MeasurementsPage = {
  title: 'Measured: reliability',
  text:
    'Each fault of `npm run faults`, once, on 2 cores and 24 GiB. [Reliability](../explanation/reliability.md) says what ' +
    'is checked after each. Seeds, states and load averages are in `faults/*.json`.',
  sections: [
    {
      title: 'Faults while 42 environments change',
      text: '"All settled" counts from the fault; memory is compared with that before the fault.',
      parts: {
        undisturbed: 'none',
        'operator-killed': 'operator killed',
        'api-killed': 'both API replicas killed',
        'leader-killed': 'leading operator killed, of two',
        'api-killed-one-by-one': 'API replicas killed one by one',
        'redis-killed': 'Redis killed',
        'builder-killed': 'buildkitd killed',
        'operator-redis-and-builder-killed': 'operator, Redis and buildkitd killed',
        'api-server-killed': 'API server killed',
        'api-server-silent': 'API server silent for 30 s',
        'api-server-away': 'API server gone for 30 s',
        'git-server-away': 'Git server gone for 30 s',
        conflicts: '409 on the first try of every write',
        'watches-gone': '410 on every watch, again and again',
        'watches-silent': 'open watches silent',
        'clock-ahead': "operator's clock an hour ahead",
        'clock-behind': "operator's clock an hour behind",
        'api-clock-ahead': "API's clock an hour ahead",
        'api-clock-behind': "API's clock an hour behind",
        crowd: 'operator killed, 202 environments',
      },
      rows: 'parts',
    },
    {
      title: 'Failing Git hosts and full disks',
      text: 'Four Git hosts fail for 30 s; a builder has a volume of 96 MiB; an untrusted build exceeds its storage.',
      parts: {
        'git-hosts-failing': 'Git hosts fail',
        'builder-disk-full': "group builder's disk full",
        'ephemeral-disk-full': "ephemeral builder's disk full",
      },
      rows: 'figures',
    },
    {
      title: 'Sleeping environments',
      text: 'Three sleeping environments, whose service takes 8 s to start, get eight requests each at once.',
      parts: {
        'waker-killed': 'one of two wakers killed meanwhile',
        'operator-killed-while-waking': 'operator killed meanwhile',
        'node-restarted-while-asleep': 'node restarted before',
      },
      rows: 'figures',
    },
  ],
};
