import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { z } from 'zod';
import { pushRepository } from '../../sample/push-repository.ts';
import { namespaceOf, pageWith, startHarness, type Harness } from '../harness.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness('own');
}, 60_000);

afterAll(() => harness.remove(), 60_000);

/** Git permits this name, and a shell that read it as a script would end. */
const branch = `it's-"$(exit)"-$HOME`;

/** Two pages that show their environment. Only `named` names what changes with each commit and build. */
function files(readme: string): Record<string, string> {
  const service = (dockerfile: string, port: number, alias?: string) => ({
    build: { context: 'image', dockerfile },
    ports: [`${port}:8080`],
    'x-coppice': { public: [{ port: 8080, ...(alias !== undefined && { alias }) }] },
  });
  const dockerfile = (argument: string) => `FROM busybox:1
ARG ${argument}=none
RUN mkdir -p /www/cgi-bin && echo "built with $${argument}" >/www/argument
COPY --chmod=755 index.cgi /www/cgi-bin/
CMD ["httpd", "-f", "-p", "8080", "-h", "/www"]
`;
  return {
    README: readme,
    'compose.yaml': stringify({
      services: {
        named: {
          ...service('Named', 8080),
          environment: ['COPPICE_COMMIT', 'COPPICE_WEB_URL_MY_ADMIN', 'TEXT=${COPPICE_BUILD} of ${COPPICE_BRANCH}'],
        },
        still: service('Still', 8081, 'my-admin'),
      },
    }),
    'image/Named': dockerfile('COPPICE_COMMIT'),
    'image/Still': dockerfile('COPPICE_ENVIRONMENT'),
    'image/index.cgi': '#!/bin/sh\necho "Content-Type: text/plain"\necho\ncat /www/argument\nenv\n',
  };
}

/** Returns Coppice's variables on a page, and the line of its build. */
async function variablesAt(url: string, text: string): Promise<Record<string, string>> {
  const page = await pageWith(`${url}cgi-bin/index.cgi`, text, 60);
  const lines = page.split('\n').filter((line) => /^(COPPICE_|TEXT=)/.test(line));
  const pairs = lines.map((line): [string, string] => [line.split('=', 1)[0] ?? '', line.replace(/^[^=]*=/, '')]);
  return { ...Object.fromEntries(pairs), argument: /^built with (.*)$/m.exec(page)?.[1] ?? '' };
}

const objectSchema = z.object({ metadata: z.object({ generation: z.number(), uid: z.string() }) });

/** Returns what identifies the state of a service's Deployment, without its status. */
async function deploymentOf(id: string, service: string) {
  const args = ['get', 'deployment', service, '--namespace', namespaceOf(id), '--output', 'json'];
  return objectSchema.parse(JSON.parse(await harness.kubectl(args))).metadata;
}

const effectiveSchema = z.object({
  variables: z.array(z.looseObject({ name: z.string(), value: z.string(), from: z.string() })),
});

test('an environment knows itself, and a commit replaces only what names the commit', async () => {
  const { connection, group, client } = harness;
  const url = `${connection.gitUrl}/${group}/own.git`;
  const first = await pushRepository({ url, branch, files: files('first') });
  const repository = await harness.addRepository('own', url);
  const id = await harness.spawn(repository, branch);
  const { weburl, aliases } = await harness.built(id);
  const adminUrl = aliases['my-admin'] ?? '';
  const host = new URL(weburl).hostname;
  const stable = {
    COPPICE_ENVIRONMENT: id,
    COPPICE_GROUP: group,
    COPPICE_REPOSITORY: repository,
    COPPICE_REF: branch,
    COPPICE_REF_TYPE: 'branch',
    COPPICE_BRANCH: branch,
    COPPICE_TAG: '',
    COPPICE_PULL_REQUEST: '',
    COPPICE_WEB_URL: weburl.slice(0, -1),
    COPPICE_WEB_HOST: host,
  };
  const named = (commit: string, build: number) => ({
    ...stable,
    COPPICE_COMMIT: commit,
    COPPICE_WEB_URL_MY_ADMIN: adminUrl.slice(0, -1),
    TEXT: `${build} of ${branch}`,
    argument: commit,
  });
  expect(await variablesAt(weburl, first)).toEqual(named(first, 1));
  expect(await variablesAt(adminUrl, 'COPPICE_')).toEqual({ ...stable, argument: id });

  const before = [await deploymentOf(id, 'named'), await deploymentOf(id, 'still')];
  const second = await pushRepository({ url, branch, files: files('second') });
  expect(second).not.toBe(first);
  await client.call(z.unknown(), 'POST', `/api/environment/${id}/build`);
  expect(await variablesAt(weburl, second)).toEqual(named(second, 2));
  await harness.built(id);
  const after = [await deploymentOf(id, 'named'), await deploymentOf(id, 'still')];
  expect(after[0]?.generation).toBeGreaterThan(before[0]?.generation ?? 0);
  expect(after[1]).toEqual(before[1]);

  const { variables } = await client.call(effectiveSchema, 'GET', `/api/environment/${id}/variables`);
  const own = variables.filter(({ from }) => from === 'coppice').map(({ name, value }) => [name, value]);
  expect(Object.fromEntries(own)).toMatchObject({ ...stable, COPPICE_COMMIT: second, COPPICE_BUILD: '2' });
}, 120_000);

test('nobody sets a reserved name', async () => {
  const { group, client } = harness;
  const body = { name: 'COPPICE_GROUP', value: 'faked' };
  const refused = await client.send('POST', `/api/group/${group}/variables`, body);
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('is reserved')]);
  const variables = JSON.stringify({ spec: { variables: [body] } });
  await harness.kubectl(['patch', 'groups.coppice.dev', group, '--type', 'merge', '--patch', variables]);
  const condition = ['--for', 'condition=VariablesValid=false', '--timeout', '30s'];
  await harness.kubectl(['wait', 'groups.coppice.dev', group, ...condition]);
}, 60_000);
