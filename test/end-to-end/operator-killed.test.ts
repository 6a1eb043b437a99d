import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { BuildLogMessage } from '../../build-logs/message.ts';
import { run } from '../cluster/run.ts';
import { pageWith, startHarness, type Harness } from './harness.ts';

const lineCount = 150;
/** `run` is a value of its own for each run, or the layer would be in the builder's cache. */
const slowDockerfile = (run: string) => `FROM node:24-slim
ENV RUN=${run}
WORKDIR /app
COPY *.mjs ./
RUN for i in $(seq ${lineCount}); do echo "line $i of the build"; sleep 0.05; done
USER node
CMD ["node", "server.mjs"]
`;

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness('kill');
}, 60_000);

afterAll(() => harness.remove(), 180_000);

test('an operator killed in the middle of a build changes nothing of it: built, and every log line once', async () => {
  const origin = await harness.push('shop', 'main', { 'api/Dockerfile': slowDockerfile(harness.group) });
  const id = await harness.spawn(await harness.addRepository('shop', origin), 'main');
  const messages: BuildLogMessage[] = [];
  let kills = 0;
  for await (const message of harness.client.log(id)) {
    messages.push(message);
    const isThere = (text: string) => 'line' in message && message.line.endsWith(text);
    if (isThere(' line 20 of the build') || isThere(' line 70 of the build')) {
      kills += 1;
      await run('docker', ['exec', 'coppice-control-plane', 'pkill', '-KILL', '--full', 'node operator/main.ts']);
    }
  }
  expect({ kills, end: messages.at(-1) }).toMatchObject({ kills: 2, end: { end: { result: 'succeeded' } } });
  expect(messages.map(({ seq }) => seq)).toEqual(messages.map((_message, index) => index + 1));
  const counted = messages.flatMap((message) => {
    const number = 'line' in message ? / line (\d+) of the build$/.exec(message.line)?.[1] : undefined;
    return number === undefined ? [] : [Number(number)];
  });
  expect(counted).toEqual(Array.from({ length: lineCount }, (_value, index) => index + 1));
  expect(messages.at(-1)).toMatchObject({ end: { result: 'succeeded' } });
  const { weburl } = await harness.built(id);
  await pageWith(weburl, 'Hello from the API');
}, 300_000);
