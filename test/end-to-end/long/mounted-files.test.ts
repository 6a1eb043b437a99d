import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { z } from 'zod';
import { pushRepository } from '../../sample/push-repository.ts';
import { conditionOf, namespaceOf, pageWith, startHarness, type Harness } from '../harness.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness('files');
}, 60_000);

afterAll(() => harness.remove(), 60_000);

/** A page from a mounted folder that is stored as several objects, beside a mounted secret. */
function site(text: string): Record<string, string> {
  return {
    'compose.yaml': stringify({
      services: {
        web: {
          build: './image',
          ports: ['8080:8080'],
          volumes: ['./site:/www'],
          secrets: [{ source: 'token', target: '/www-token', mode: '0440' }],
        },
      },
      secrets: { token: { file: './token' } },
    }),
    'image/Dockerfile': 'FROM busybox:1\nCMD ["sh", "-c", "test -s /www-token && exec httpd -f -p 8080 -h /www"]\n',
    'site/index.html': `${text}\n`,
    'site/pages/large.html': `large ${'x'.repeat(64 * 1024)}\n`,
    'site/cgi-bin/program': '#!/bin/sh\nprintf "Content-Type: text/plain\\n\\n"\nls -l /www-token\n',
    token: 'hunter2\n',
  };
}

async function objectsOf(id: string): Promise<Map<string, string>> {
  const args = ['get', 'configmaps,secrets', '--namespace', namespaceOf(id), '--output'];
  const format = 'jsonpath={range .items[*]}{.metadata.name} {.metadata.uid}{"\\n"}{end}';
  const lines = (await harness.kubectl([...args, format])).split('\n').filter((line) => line.startsWith('file-'));
  return new Map(lines.map((line) => line.split(' ') as [string, string]));
}

test('a folder of several objects is one folder in the container, and a push replaces only what changed', async () => {
  const origin = `${harness.connection.gitUrl}/${harness.group}/site.git`;
  await pushRepository({ url: origin, branch: 'main', files: site('the first') });
  const repository = await harness.addRepository('site', origin);
  const id = await harness.spawn(repository, 'main');
  const { weburl } = await harness.built(id);
  await pageWith(weburl, 'the first');
  await pageWith(`${weburl}pages/large.html`, 'large xxx');
  const first = await objectsOf(id);
  expect(first.size).toBe(3);

  await pushRepository({ url: origin, branch: 'main', files: site('the second') });
  await harness.client.call(z.unknown(), 'POST', `/api/environment/${id}/build`);
  await pageWith(weburl, 'the second', 120);
  await harness.built(id);
  const second = await objectsOf(id);
  expect([...second].filter(([name, uid]) => first.get(name) === uid)).toHaveLength(2);
  const stored = await harness.kubectl([
    ...['get', 'environments.coppice.dev', '--namespace', `group-${harness.group}`],
    ...['--output', 'jsonpath={.items[*].status.storedBytes}'],
  ]);
  expect(Number(stored)).toBeGreaterThan(64 * 1024);
}, 400_000);

test('environments that make the operator write too much wait, and say so', async () => {
  // 100 pods with 200 KB each, of which none is started without a build.
  const lines = Array.from({ length: 50 }, (_, index) => `V${index}=${'x'.repeat(4000)}`);
  const variables = Object.fromEntries(
    Array.from({ length: 5 }, (_, index) => [`${index}.env`, lines.slice(index * 10, index * 10 + 10).join('\n')]),
  );
  const web = { image: 'busybox:1', env_file: Object.keys(variables), deploy: { replicas: 100 } };
  const files = { 'compose.yaml': stringify({ services: { web } }), ...variables };
  const origin = `${harness.connection.gitUrl}/${harness.group}/large.git`;
  await pushRepository({ url: origin, branch: 'main', files });
  const repository = await harness.addRepository('large', origin);
  const first = await harness.spawn(repository, 'main', { build: false });
  await harness.client.waitForEnvironment(first, ({ status }) => status === 'created');
  const second = await harness.spawn(repository, 'main', { build: false });
  const waiting = await harness.client.waitForEnvironment(
    second,
    (environment) => conditionOf(environment, 'Reconciling')?.reason === 'TooManyWrittenBytes',
  );
  expect(conditionOf(waiting, 'Reconciling')?.message).toMatch(/wrote 16 MiB .* within one minute, which is the limit/);
  await harness.client.waitForEnvironment(second, ({ status }) => status === 'created');
}, 400_000);
