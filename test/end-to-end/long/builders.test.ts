import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { connect } from 'node:tls';
import type { BuildLogMessage } from '../../../build-logs/message.ts';
import { PROGRAMS_FOLDER } from '../../support/paths.ts';
import { waitFor } from '../../support/wait-for.ts';
import { namespaceOf, pageWith, startHarness, type Harness } from '../harness.ts';
import { pushPullRequest } from '../push-pull-request.ts';
import { testsSideBySide } from '../side-by-side.ts';

const namespace = 'coppice-builders';
/** Two slow steps, of which only the second one depends on the repository's files, and a cache mount. */
const dockerfile = `FROM node:24-slim
WORKDIR /app
RUN date +%N > /made
COPY server.mjs title.txt ./
RUN sleep 3
RUN --mount=type=cache,target=/counted echo >> /counted/builds && echo "builds so far: $(wc -l < /counted/builds)"
USER node
EXPOSE 8080
CMD ["node", "server.mjs"]
`;

let first: Harness;
let second: Harness;
/** The repository of the first group. */
let repository: string;

beforeAll(async () => {
  [first, second] = await Promise.all([startHarness('builder-a'), startHarness('builder-b')]);
  repository = await first.addRepository('shop', await first.push('shop', 'main', { 'web/Dockerfile': dockerfile }));
}, 60_000);

afterAll(async () => {
  await Promise.all([first.removeAndWait(), second.removeAndWait()]);
  const left = await objects('pods,secrets,persistentvolumeclaims,networkpolicies');
  expect(left.filter((name) => name.includes(first.group) || name.includes(second.group))).toEqual([]);
}, 180_000);

test('builds each group in its own buildkitd, which only its certificate opens', async () => {
  const other = await second.addRepository('shop', await second.push('shop', 'main'));
  const ids = await Promise.all([first.spawn(repository, 'main'), second.spawn(other, 'main')]);
  await Promise.all([first.built(ids[0]), second.built(ids[1])]);

  const builders = [`group-${first.group}`, `group-${second.group}`] as const;
  expect(await objects('pods')).toEqual(expect.arrayContaining(builders.map((name) => `pod/${name}`)));
  const [own, others] = await Promise.all(builders.map((name) => certificates(name)));
  await throughPortForward(builders[0], async (port) => {
    expect(await greeting(port, own!)).toBe('HTTP/2');
    expect(await greeting(port, { ...others!, ca: own!.ca })).toMatch(/^ERR_SSL_.*ALERT/);
    expect(await greeting(port, { ca: own!.ca })).toMatch(/^ERR_SSL_.*ALERT/);
  });
}, 300_000);

/**
 * The tests run in parallel: one uses the first group's builder, the other an ephemeral builder of the second group.
 */
testsSideBySide(
  {
    'stops an idle builder, and starts it again with its cached steps and cache mounts': stopsAndRestarts,
    'builds a pull request that may come from a fork in a builder that is deleted after the build': buildsInEphemeral,
  },
  300_000,
);

async function stopsAndRestarts(): Promise<void> {
  const name = `group-${first.group}`;
  await waitFor('the builder to stop', 120, async () =>
    (await objects('pods')).includes(`pod/${name}`) ? undefined : true,
  );
  expect(await objects('persistentvolumeclaims')).toContain(`persistentvolumeclaim/${name}`);

  const files = { 'web/Dockerfile': dockerfile, 'web/title.txt': 'The changed shop\n' };
  await first.push('shop', 'changed', files);
  const id = await first.spawn(repository, 'changed');
  const messages: BuildLogMessage[] = [];
  for await (const message of first.client.log(id)) messages.push(message);
  expect(messages.at(-1)).toMatchObject({ end: { result: 'succeeded' } });
  const lines = messages.flatMap((one) => ('line' in one && one.service === 'web' ? [one.line] : []));
  const step = (text: string) => /^#\d+/.exec(lines.find((line) => line.endsWith(text)) ?? '')?.[0] ?? 'no such step';
  expect(lines).toContain(`${step('RUN date +%N > /made')} CACHED`);
  expect(lines).not.toContain(`${step('RUN sleep 3')} CACHED`);
  expect(lines.filter((line) => /builds so far: \d/.test(line) && !line.includes('RUN'))).toEqual([
    expect.stringMatching(/ builds so far: 2$/),
  ]);
  const { weburl } = await first.built(id);
  await pageWith(weburl, 'The changed shop');
}

async function buildsInEphemeral(): Promise<void> {
  const title = 'The shop of a fork\n';
  const origin = await second.push('forked', 'fork', { 'web/Dockerfile': dockerfile, 'web/title.txt': title });
  await pushPullRequest(origin, 'fork', 7);
  const id = await second.spawn(await second.addRepository('forked', origin), '', {
    gitRef: { name: '7', type: 'pull request' },
  });
  const uid = await uidOf(second, id);
  const name = await waitFor('the ephemeral builder', 60, async () =>
    (await objects('pods')).find((pod) => pod.startsWith(`pod/ephemeral-${uid}`)),
  );
  const environment = await second.built(id);
  await pageWith(environment.weburl, 'The shop of a fork');
  await waitFor('the ephemeral builder to go', 30, async () => {
    const left = await objects('pods,secrets,networkpolicies');
    return left.some((object) => object.includes(name.slice('pod/'.length))) ? undefined : true;
  });
  expect(await objects('persistentvolumeclaims')).not.toContain(`persistentvolumeclaim/${name.slice('pod/'.length)}`);
}

/** Returns `kind/name` of the objects in the builders' namespace. */
async function objects(kinds: string): Promise<string[]> {
  const text = await first.kubectl(['get', kinds, '--namespace', namespace, '--output', 'name']);
  return text
    .trim()
    .split('\n')
    .map((line) => line.replace(/^([a-z]+)[^/]*\//, '$1/'));
}

async function uidOf(harness: Harness, environmentId: string): Promise<string> {
  const label = 'jsonpath={.metadata.labels.coppice\\.dev/environment-uid}';
  return waitFor('the namespace', 30, async () => {
    const args = ['get', 'namespace', namespaceOf(environmentId), '--ignore-not-found', '--output', label];
    return (await harness.kubectl(args)) || undefined;
  });
}

interface ClientCertificate {
  ca: string;
  cert?: string;
  key?: string;
}

/** Returns the certificate that the operator passes to builds of the builder's group. */
async function certificates(builder: string): Promise<ClientCertificate> {
  const text = await first.kubectl(['get', 'secret', builder, '--namespace', namespace, '--output', 'json']);
  const { data } = JSON.parse(text) as { data: Record<string, string> };
  const part = (key: string) => Buffer.from(data[key] ?? '', 'base64').toString();
  return { ca: part('ca.crt'), cert: part('client.crt'), key: part('client.key') };
}

async function throughPortForward(builder: string, use: (port: number) => Promise<void>): Promise<void> {
  const args = ['--kubeconfig', first.connection.kubeconfig, '--namespace', namespace];
  const env = { ...process.env, PATH: `${PROGRAMS_FOLDER}:${process.env['PATH'] ?? ''}` };
  const forward = spawn('kubectl', [...args, 'port-forward', `pod/${builder}`, ':1234'], { env });
  try {
    const [line] = (await once(createInterface(forward.stdout), 'line')) as [string];
    await use(Number(/127\.0\.0\.1:(\d+)/.exec(line)?.[1]));
  } finally {
    forward.kill();
  }
}

/** Returns `HTTP/2` if the builder admits the client, otherwise why the connection failed. */
async function greeting(port: number, certificate: ClientCertificate): Promise<string | undefined> {
  const servername = `group-${first.group}`;
  const socket = connect({ host: '127.0.0.1', port, servername, ALPNProtocols: ['h2'], ...certificate });
  return new Promise((resolve) => {
    socket.once('data', () => {
      resolve('HTTP/2');
      socket.destroy();
    });
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code));
    socket.once('end', () => resolve('the server hung up'));
  });
}
