import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { BuildLogMessage } from '../../build-logs/message.ts';
import { run } from '../cluster/run.ts';
import { pageWith, startHarness, type Harness } from './harness.ts';

const lineCount = 150;
const slowDockerfile = `FROM node:24-slim
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
  // A line of its own, so that no earlier run's image is found in the registry.
  const dockerfile = `${slowDockerfile}ENV RUN=${String(Date.now())}\n`;
  const origin = await harness.push('shop', 'main', { 'api/Dockerfile': dockerfile });
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
  expect(kills).toBe(2);
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
