import { stringify } from 'yaml';
import { z } from 'zod';

/** The addresses that an attack connects to, by the name of what listens there. */
export type Targets = Record<string, { host: string; port: number }>;

/** The outcome of each connection: `open`, or the error code. */
const outcomesSchema = z.record(z.string(), z.string());
export type Outcomes = z.infer<typeof outcomesSchema>;

/**
 * Connects to all targets at once and prints the outcomes as JSON. The host `link` is the node's end of the pod's own
 * link, by its IPv6 address, which follows from the hardware address of the IPv4 gateway.
 */
const script = `
const { connect } = require('node:net');
const { lookup } = require('node:dns/promises');
const { readFileSync } = require('node:fs');
function nodeOnLink() {
  const [, hardware] = /(?:^|\\n)[\\d.]+\\s+0x1\\s+0x2\\s+([0-9a-f:]{17})/.exec(readFileSync('/proc/net/arp', 'utf8')) ?? [];
  if (hardware === undefined) return undefined;
  const bytes = hardware.split(':').map((byte) => parseInt(byte, 16));
  bytes[0] ^= 2;
  bytes.splice(3, 0, 0xff, 0xfe);
  const words = [0, 2, 4, 6].map((at) => (bytes[at] * 256 + bytes[at + 1]).toString(16));
  return 'fe80::' + words.join(':') + '%eth0';
}
function attempt(host, port) {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 3000 });
    const end = (outcome) => (socket.destroy(), resolve(outcome));
    socket.on('connect', () => end('open'));
    socket.on('timeout', () => end('ETIMEDOUT'));
    socket.on('error', ({ code }) => end(code));
  });
}
async function attack(targets) {
  const outcomes = {};
  await attempt('kubernetes.default.svc', 443);
  await Promise.all(
    Object.entries(targets).map(async ([name, { host, port }]) => {
      outcomes[name] = await attempt(host === 'link' ? (nodeOnLink() ?? 'no-gateway.invalid') : host, port);
    }),
  );
  outcomes.DNS = await lookup('kubernetes.default.svc.cluster.local').then(() => 'open', ({ code }) => code);
  return outcomes;
}
`;

/**
 * Returns a repository that attacks these targets from a build step, a service and a job. The page shows what the build
 * step and the service reached; the job prints it. `outside` is a web server that everything may reach.
 */
export function attackingPage(targets: Targets, outside: string): Record<string, string> {
  const own = { 'own service': { host: 'store', port: 8081 } };
  const attack = (others: Targets) => `${script}const attacked = attack(${JSON.stringify({ ...targets, ...others })});`;
  const services = {
    web: { build: '.', ports: ['8080:8080'], depends_on: ['store'] },
    store: { image: 'busybox:1', command: ['httpd', '-f', '-p', '8081'], expose: ['8081'] },
    job: {
      image: 'node:24-slim',
      restart: 'no',
      depends_on: ['store'],
      // In Compose, $ starts a variable.
      command: [
        'node',
        '-e',
        `${attack(own)} attacked.then((all) => console.log(JSON.stringify(all)))`.replaceAll('$', '$$$$'),
      ],
    },
  };
  return {
    'compose.yaml': stringify({
      services,
      'x-coppice': { tests: [{ name: 'home', type: 'http', params: { paths: [{ path: '/', text: 'service' }] } }] },
    }),
    'build.cjs': `${attack({})} attacked.then((all) => console.log(JSON.stringify(all)));`,
    'server.cjs': `${attack(own)}
const { createServer } = require('node:http');
const build = JSON.parse(readFileSync('build.json', 'utf8'));
const added = readFileSync('outside.txt', 'utf8');
attacked.then((service) => {
  const page = JSON.stringify({ build, service, added });
  createServer((_request, response) => response.end(page)).listen(8080);
});
process.on('SIGTERM', () => process.exit(0));
`,
    Dockerfile: `FROM node:24-slim
WORKDIR /app
COPY *.cjs ./
ADD ${outside} outside.txt
RUN node build.cjs > build.json
CMD ["node", "server.cjs"]
`,
  };
}

/** Returns a repository whose build adds a file from this URL. */
export function addingPage(url: string): Record<string, string> {
  return {
    'compose.yaml': "services:\n  web:\n    build: .\n    ports: ['8080:8080']\n",
    Dockerfile: `FROM busybox:1\nADD ${url} /www/added\nCMD httpd -f -p 8080 -h /www\n`,
  };
}

const pageSchema = z.object({ build: outcomesSchema, service: outcomesSchema, added: z.string() });

export const attackOutcomes = (page: string) => pageSchema.parse(JSON.parse(page));
export const jobOutcomes = (line: string): Outcomes => outcomesSchema.parse(JSON.parse(line));

/** Returns the names of the targets that were reached, sorted. */
export function reached(outcomes: Outcomes): string[] {
  return Object.keys(outcomes)
    .filter((name) => outcomes[name] === 'open')
    .sort();
}
