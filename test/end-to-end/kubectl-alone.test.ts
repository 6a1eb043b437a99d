import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { send } from '../client/local-http.ts';
import { readConnection } from '../cluster/connection.ts';
import { pushRepository, SAMPLE_REPOSITORY } from '../sample/push-repository.ts';
import { pageWith, randomName, startHarness, type Harness } from './harness.ts';

let harness: Harness;
let group: string;

beforeAll(async () => {
  harness = await startHarness('ctl');
  group = randomName('kubectl');
}, 60_000);

afterAll(async () => {
  await harness.kubectl(['delete', 'groups.coppice.dev', group, '--ignore-not-found', '--wait=false']);
  await harness.remove();
}, 60_000);

function apply(...objects: object[]): Promise<string> {
  return harness.kubectl(['apply', '--filename', '-'], { input: objects.map((one) => stringify(one)).join('---\n') });
}

function waitForCondition(kind: string, name: string, condition: string, seconds: number): Promise<string> {
  const where = kind === 'groups.coppice.dev' ? [] : ['--namespace', `group-${group}`];
  return harness.kubectl(['wait', `${kind}/${name}`, ...where, `--for=${condition}`, `--timeout=${seconds}s`], {
    deadline: seconds + 10,
  });
}

const apiVersion = 'coppice.dev/v1alpha1';

test('creates a group, a private repository, an environment and its page with kubectl alone, and deletes everything', async () => {
  const { gitUrl } = readConnection();
  const namespace = `group-${group}`;
  const origin = `${gitUrl}/${group}/shop.git`;
  const credentials = { username: 'reader', password: 'a "quoted" p@ss' };
  await makePrivate(`${gitUrl}/admin/repositories/${group}/shop`, credentials);
  await pushRepository({ url: origin, branch: 'main', from: SAMPLE_REPOSITORY, credentials });

  await apply({ apiVersion, kind: 'Group', metadata: { name: group }, spec: { members: [harness.client.email] } });
  await waitForCondition('groups.coppice.dev', group, 'condition=Ready', 90);
  await apply(
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'shop-git', namespace }, stringData: credentials },
    {
      apiVersion,
      kind: 'Repository',
      metadata: { name: 'shop', namespace },
      spec: { type: 'generic', generic: { origin, credentialsSecret: 'shop-git' } },
    },
    {
      apiVersion,
      kind: 'Environment',
      metadata: { name: 'shop-main', namespace },
      spec: { repository: 'shop', gitRef: { name: 'main', type: 'branch' } },
    },
  );
  await waitForCondition('repositories.coppice.dev', 'shop', 'condition=Ready', 90);
  await waitForCondition('environments.coppice.dev', 'shop-main', 'jsonpath={.status.state}=built', 180);

  const table = await harness.kubectl(['get', 'environments.coppice.dev', '--namespace', namespace]);
  expect(table).toMatch(/NAME +STATE +REF +URL +READY +ASLEEP +AGE/);
  expect(table).toMatch(/shop-main +built +main +http:\S+ +True/);
  const weburl = /http:\S+/.exec(table)?.[0] ?? '';
  await pageWith(weburl, 'Hello from the API');
  // A member sees what kubectl applied through the REST API too.
  expect(await harness.client.environment(`${group}.shop-main`)).toMatchObject({ status: 'built', weburl });

  await harness.kubectl(
    ['delete', 'environments.coppice.dev', 'shop-main', '--namespace', namespace, '--timeout=90s'],
    {
      deadline: 100,
    },
  );
  const everywhere = await harness.kubectl([
    ...['get', 'namespaces,deployments,services,ingresses,jobs,pods,secrets,configmaps,networkpolicies'],
    ...['--all-namespaces', '--selector', `coppice.dev/group=${group},coppice.dev/environment`, '--output', 'name'],
  ]);
  expect(everywhere).toBe('');
}, 400_000);

test.each([
  ['a name with a dot', { metadata: { name: 'a.b' } }, /DNS label/],
  [
    'a ref that git would read as an option',
    { spec: { gitRef: { name: '--upload-pack=x', type: 'branch' } } },
    /not a valid Git reference/,
  ],
  ['an unknown type', { spec: { gitRef: { name: 'main', type: 'commit' } } }, /Unsupported value/],
])(
  'lets the API server refuse %s',
  async (_name, change, words) => {
    await apply({ apiVersion, kind: 'Group', metadata: { name: group }, spec: { members: [] } });
    await waitForCondition('groups.coppice.dev', group, 'condition=Ready', 60);
    const environment = {
      apiVersion,
      kind: 'Environment',
      metadata: { name: 'x', namespace: `group-${group}`, ...('metadata' in change ? change.metadata : {}) },
      spec: { repository: 'shop', gitRef: { name: 'main', type: 'branch' }, ...('spec' in change ? change.spec : {}) },
    };
    await expect(
      apply({ ...environment, metadata: { ...environment.metadata, namespace: `group-${group}` } }),
    ).rejects.toThrow(words);
  },
  90_000,
);

async function makePrivate(url: string, credentials: object): Promise<void> {
  const { status, text } = await send(url, { method: 'PUT', body: JSON.stringify(credentials) });
  if (status !== 200) throw new Error(`${url}: ${status} ${text}`);
}
