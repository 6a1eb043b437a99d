// Runs commands of the plugin with a fake kubectl on the PATH.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startServer, stopServer } from '../../api/http/server.ts';
import { TestApi } from '../../api/testing/test-api.ts';
import { FakeKubectl } from '../testing/fake-kubectl.ts';
import { runCommand } from '../testing/run-command.ts';

type Environment = ReturnType<TestApi['addEnvironment']>;

const environments = 'environments.coppice.dev';
const cannot = (what: string) => `Error from server (Forbidden): ${what} is forbidden: User "ann@example.com" cannot`;

let api: TestApi;
let kubectl: FakeKubectl;
let main: Environment;

beforeEach(() => {
  api = new TestApi();
  api.now = Date.now();
  kubectl = new FakeKubectl();
  const group = api.addGroup('acme', ['alice@example.com']);
  const shop = api.addRepository('acme', 'shop', { variables: [variable('A'), variable('B', 'stored')] });
  main = api.addEnvironment('acme', 'shop-main', 'shop', {
    ...{ state: 'built', revision: 'r1', webURL: 'http://main.example/' },
    activation: { ...active, buildPending: false },
    services: [{ name: 'web', ready: true }],
  });
  const other = api.addEnvironment('acme', 'shop-other', 'shop', { state: 'empty' });
  kubectl.state.objects = {
    'groups.coppice.dev': [group],
    'repositories.coppice.dev': [shop],
    [environments]: [main, other],
    secrets: [{ metadata: { name: 'stored', namespace: 'group-acme' }, ...{ data: { key: btoa('hidden') } } }],
  };
});
afterEach(() => kubectl.remove());

const active = { active: true, since: '2026-01-01T00:00:00Z', reason: 'Spec' as const, specActive: true };
const variable = (name: string, secret?: string) => ({
  ...{ name, visibility: 'always' as const },
  ...(secret === undefined ? { value: 'shown' } : { valueFrom: { secretKeyRef: { name: secret, key: 'key' } } }),
});

async function run(...args: string[]) {
  kubectl.save();
  const env = { PATH: `${kubectl.folder}:/usr/bin:/bin` };
  return runCommand(args, { env, name: 'kubectl coppice' });
}
const refuse = (call: string, report: string) => kubectl.state.refusals.push({ call, report });
const namedCalls = (verb: string) => kubectl.calls.filter(([first]) => first === verb);

describe('shows what the REST API shows', () => {
  let server: Server;
  let url: string;
  let token: string;
  beforeEach(async () => {
    ({ token } = await api.login('alice@example.com'));
    const started = await startServer(api.app, api.webSockets, 0);
    ({ server } = started);
    url = `http://localhost:${started.port}`;
  });
  afterEach(() => stopServer(server, api.webSockets, 100));

  test.each([
    'group list -o json',
    'repo list -o json',
    'env list -o json',
    'env list --repo acme.shop --state built -o wide',
    'env list --repo acme.shop --text OTHER --health inactive,progressing -o name',
    'env get acme.shop-main -o json',
    'env get acme.shop-main -o yaml',
    'env open acme.shop-main',
  ])('%s', async (line) => {
    const args = line.split(' ');
    const env = { COPPICE_URL: url, COPPICE_TOKEN: token, XDG_CONFIG_HOME: kubectl.folder, PATH: '/usr/bin:/bin' };
    const expected = await runCommand(args, { env });
    expect(expected.code).toBe(0);
    expect(await run(...args)).toEqual(expected);
  });
});

test('approves a commit as the user of the cluster', async () => {
  const commit = 'a'.repeat(40);
  const waiting = { ...main, status: { ...main.status, approval: { waitingCommit: commit } } };
  kubectl.state.objects['environments.coppice.dev'] = [waiting];
  kubectl.save();
  expect(await run('env', 'approve', 'acme.shop-main', 'b'.repeat(40))).toMatchObject({ code: 1 });
  expect(namedCalls('patch')).toEqual([]);
  expect(await run('env', 'approve', 'acme.shop-main', commit)).toMatchObject({ code: 0 });
  expect(JSON.stringify(namedCalls('patch'))).toContain(`/${commit}/ann@example.com`);
});

test.each([
  [['env', 'build', 'acme.shop-main'], { build: '' }],
  [['env', 'rebuild', 'acme.shop-main'], { rebuild: '' }],
  [['env', 'delete', 'acme.shop-main'], { delete: '' }],
  [['env', 'ttl', 'acme.shop-main', '1h'], { ttl: '/3600' }],
  [['env', 'create', 'acme.shop-other', '--ttl', '2h'], { create: '', build: '', ttl: '/7200' }],
  [['env', 'create', 'acme.shop-other', '--no-build'], { create: '' }],
  [['-n', 'group-acme', 'env', 'build', 'shop-main'], { build: '' }],
  [['env', 'spawn', 'acme.shop', '--branch', 'main'], { build: '' }],
])('%j requests %j', async (args, requests) => {
  expect(await run(...args)).toMatchObject({ code: 0 });
  const [patch = []] = namedCalls('patch');
  const value = patch.find((arg) => arg.startsWith('--patch='))?.slice('--patch='.length);
  const { uid, annotations } = (JSON.parse(value ?? '') as { metadata: Environment['metadata'] }).metadata;
  const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/[0-9a-f-]{36}`;
  expect(annotations).toEqual(
    Object.fromEntries(
      Object.entries(requests).map(([name, end]) => [
        `coppice.dev/request-${name}`,
        expect.stringMatching(new RegExp(`^${time}${end}$`)),
      ]),
    ),
  );
  expect([uid, patch.at(-1)]).toEqual(
    args.includes('create') ? [expect.any(String), 'shop-other'] : [main.metadata.uid, 'shop-main'],
  );
});

test('spawns a ref without an environment as an Environment', async () => {
  const { code, err } = await run('env', 'spawn', 'acme.shop', '--tag', 'v1', '--ttl', '1h', '--name', 'First');
  expect({ code, err }).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^acme\.shop-tag-v1-[a-z2-7]{16}: created/),
  });
  expect(kubectl.created).toMatchObject({
    ...{ apiVersion: 'coppice.dev/v1alpha1', kind: 'Environment' },
    metadata: { namespace: 'group-acme', annotations: { 'coppice.dev/request-build': expect.any(String) } },
    spec: {
      ...{ repository: 'shop', gitRef: { name: 'v1', type: 'tag' }, displayName: 'First', ttlSeconds: 3600 },
      ...{ active: true, buildOnCreate: true },
    },
  });
});

describe('refusals', () => {
  const refusals: [what: string, command: string, report: string, code: number, text: string][] = [
    [
      'a login that the cluster does not accept',
      'env list',
      'error: You must be logged in to the server (Unauthorized)',
      ...([4, 'Sign in to the cluster again'] as const),
    ],
    [
      'a program that gives no credentials',
      'env get acme.shop-main',
      'Unable to connect to the server: getting credentials: exec: executable oidc failed with exit code 1',
      ...([4, 'Sign in to the cluster again'] as const),
    ],
    [
      'a request without permission',
      'env build acme.shop-main',
      `${cannot('environments "shop-main"')} patch`,
      ...([1, 'cannot patch. Ask an administrator'] as const),
    ],
    [
      'a cluster without Coppice',
      'repo list',
      `error: the server doesn't have a resource type "environments"`,
      ...([1, 'Coppice is not installed in this cluster'] as const),
    ],
    [
      'a cluster that does not answer',
      'group list',
      'The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?',
      ...([1, 'the cluster cannot be reached'] as const),
    ],
    ['another context', 'group list', 'error: context "x" does not exist', 1, 'context "x" does not exist'],
  ];
  test.each(refusals)('explains %s', async (_what, command, report, code, text) => {
    refuse('', `E1124 02:23:04.036746 1 memcache.go:265] "Unhandled Error"\n${report}\u001b[2J`);
    const ran = await run(...command.split(' '));
    expect(ran).toMatchObject({ code, out: '', err: expect.stringContaining(text) });
    expect(ran.err).not.toContain('memcache');
    expect(ran.err).not.toContain('\u001b');
    expect(ran.err.trimEnd()).not.toContain('\n');
  });

  test('names the nearest one of a name that does not exist', async () => {
    expect((await run('env', 'get', 'acme.shop-mian')).err).toContain('Did you mean acme.shop-main?');
    expect((await run('repo', 'sync', 'acme.shpo')).err).toContain('Did you mean acme.shop?');
    expect((await run('env', 'list', '--repo', 'acme.shpo')).err).toContain('Did you mean acme.shop?');
    expect((await run('logs', 'acme.shop-main', '-s', 'wbe')).err).toContain('Did you mean web?');
  });

  test('says which program has a command, and hides it', async () => {
    for (const [args, text] of [
      ['token create x', '`coppice token`'],
      ['vars set A=1', '`coppice vars set`'],
      ['mcp --allow-writes', '`coppice mcp`'],
      ['logs acme.shop-main', '`coppice logs acme.shop-main`'],
    ] as const) {
      expect(await run(...args.split(' '))).toMatchObject({ code: 2, out: '', err: expect.stringContaining(text) });
    }
    const { out } = await run('--help');
    expect(out).toMatch(/\n {2}env /);
    expect(out).not.toMatch(/token|login|mcp/);
    expect((await run('__complete', '--', '')).out.split('\n')).toEqual(
      expect.not.arrayContaining(['token', 'login', '__complete']),
    );
  });

  test('says that kubectl is missing', async () => {
    const { code, err } = await runCommand(['env', 'list'], { env: { PATH: '/none' }, name: 'kubectl coppice' });
    expect([code, err]).toEqual([1, 'kubectl coppice: kubectl was not found. Install it in a folder of PATH\n']);
  });
});

describe('of a member, who cannot list all namespaces', () => {
  beforeEach(() => {
    refuse('get environments.coppice.dev --all', `${cannot('environments')} list`);
    refuse('get groups.coppice.dev', `${cannot('groups')} list`);
  });

  test('lists the namespace of the context, or asks for one', async () => {
    kubectl.state.namespace = 'default';
    expect(await run('env', 'list')).toMatchObject({ code: 1, err: expect.stringContaining('--namespace group-NAME') });
    kubectl.state.namespace = 'group-acme';
    expect((await run('env', 'list', '-o', 'name')).out).toBe('acme.shop-main\nacme.shop-other\n');
    expect((await run('group', 'list', '-o', 'name')).out).toBe('acme\n');
  });

  test('lists the given namespace, which must be that of a group', async () => {
    expect((await run('env', 'list', '-n', 'group-acme', '-o', 'name')).out).toContain('acme.shop-main\n');
    expect(await run('env', 'list', '-n', 'kube-system')).toMatchObject({ code: 2 });
  });

  test('shows variables without the values that are stored in Secrets', async () => {
    const args = ['vars', 'list', '--env', 'acme.shop-main'];
    refuse('get secrets', `${cannot('secrets "stored"')} get`);
    const { code, out, err } = await run(...args);
    expect([code, err]).toEqual([0, expect.stringContaining('you cannot read the Group acme')]);
    expect(out).toMatch(/A +\(hidden\) +always +repository\nB +\(hidden\)/);
    kubectl.state.refusals.pop();
    expect((await run(...args)).out).toMatch(/A +shown +always +repository\nB +hidden /);
  });
});

describe('hostile arguments', () => {
  test.each(['--all', 'acme.--all', 'acme.$(id)'])('%s is never an option of kubectl', async (text) => {
    const commands = [
      ['env', 'get', '--', text],
      ['env', 'delete', '--', text],
      ['repo', 'sync', '--', text],
      ['env', 'list', `--repo=${text}`],
      ['vars', 'list', `--group=${text}`],
      ['logs', 'acme.shop-main', `--service=${text}`],
      ['env', 'spawn', 'acme.shop', `--branch=${text}..`],
      ['env', 'get', '-n', 'group-acme', '--', text],
    ];
    const codes = await Promise.all(commands.map(async (args) => (await run(...args)).code));
    expect(codes).not.toContain(0);
    for (const call of kubectl.calls) {
      const end = call.includes('--') ? call.indexOf('--') : call.length;
      expect(call.slice(0, end)).not.toContain(text);
    }
    expect([namedCalls('patch'), namedCalls('create')]).toEqual([[], []]);
  });

  test('a context and a kubeconfig are values of their options', async () => {
    await run('group', 'list', '--context', '--token=x', '--kubeconfig', '-v=9');
    expect(kubectl.calls[0]).toEqual(expect.arrayContaining(['--context=--token=x', '--kubeconfig=-v=9']));
    await run('env', 'get', 'acme.shop-main', '--context', 'prod');
    await run('env', 'ttl', 'acme.shop-main', '1d', '--context', 'prod');
    for (const call of kubectl.calls.slice(1)) expect(call[0]).toBe('--context=prod');
  });
});

describe('waits', () => {
  const event = (type: string, status: Environment['status']) => ({ type, object: { ...main, status } });
  const wait = (...args: string[]) => run('env', 'wait', 'acme.shop-main', ...args);

  test('over the end of a watch, and a cluster that does not answer for a moment', async () => {
    kubectl.state.watches = [
      [event('ADDED', { state: 'created' })],
      'Unable to connect to the server: EOF',
      [event('ADDED', { state: 'created' }), event('MODIFIED', main.status)],
    ];
    expect(await wait('--timeout', '60')).toMatchObject({ code: 0, out: expect.stringContaining('built') });
  });

  test('until the time is over', async () => {
    kubectl.state.watches = [[event('ADDED', { state: 'created' })]];
    expect(await wait('--timeout', '2')).toMatchObject({ code: 8, err: expect.stringContaining('--timeout') });
  });

  test('until it is deleted', async () => {
    kubectl.state.watches = [[event('ADDED', main.status), event('DELETED', main.status)]];
    expect(await wait('--for', 'deleted')).toMatchObject({ code: 0, out: '' });
    kubectl.state.watches = [[event('ADDED', { state: 'building' }), event('DELETED', {})]];
    expect(await wait()).toMatchObject({ code: 1, err: expect.stringContaining('acme.shop-main was deleted') });
  });

  test('until one that is gone while no watch runs is missing', async () => {
    const missing = `Error from server (NotFound): ${environments} "shop-main" not found`;
    kubectl.state.watches = [[event('ADDED', main.status)], missing];
    expect(await wait('--for', 'deleted')).toMatchObject({ code: 0 });
    kubectl.state.watches = [missing];
    expect(await run('env', 'wait', 'acme.shop-gone')).toMatchObject({
      code: 1,
      err: expect.stringContaining('there is no'),
    });
  });
});

test('leaves no watch behind when a signal ends it', async () => {
  kubectl.save();
  const link = join(kubectl.folder, 'kubectl-coppice');
  symlinkSync(join(import.meta.dirname, '../main.ts'), link);
  const env = { PATH: `${kubectl.folder}:/usr/bin:/bin` };
  const plugin = spawn(process.execPath, [link, 'env', 'get', 'acme.shop-main', '--watch'], { env, stdio: 'ignore' });
  const ended = once(plugin, 'close');
  while (!kubectl.isWatching()) await delay(50);
  plugin.kill('SIGTERM');
  expect(await ended).toEqual([143, null]);
  while (kubectl.isWatching()) await delay(50);
}, 20_000);

test('prints the log of a service without what a terminal acts on', async () => {
  kubectl.state.log =
    '[pod/web-1/web] 2026-01-01T00:00:00.5Z started\u001b[2J\n[pod/web-2/web] 2026-01-01T00:00:01Z \n';
  const { code, out } = await run('logs', 'acme.shop-main', '--service', 'web', '--tail', '5');
  expect([code, out]).toEqual([0, '[web run web-1] started\n[web run web-2] \n']);
  expect(namedCalls('logs')[0]).toEqual([
    ...['logs', '--namespace=env-shop-main--acme', '--selector=coppice.dev/service=web', '--prefix', '--timestamps'],
    ...['--tail=5', '--max-log-requests=50', '--follow=false'],
  ]);
});

test('shows at once what a login of kubectl asks for', async () => {
  kubectl.state.notice = 'To sign in, open https://login.example and enter the code ABC\u001b[2J';
  const { code, err } = await run('group', 'list');
  expect([code, err]).toEqual([0, 'To sign in, open https://login.example and enter the code ABC\n']);
});

describe('connects to a ready pod of a service', () => {
  const podOf = (name: string, ready: boolean) => ({
    metadata: { name, namespace: 'env-shop-main--acme' },
    status: {
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
      containerStatuses: [{ name: 'web', state: { running: {} } }],
    },
  });
  const pod = ['--namespace=env-shop-main--acme', 'pod/web-2'];
  beforeEach(() => {
    kubectl.state.objects['pods'] = [podOf('web-1', false), podOf('web-2', true)];
  });

  test('by kubectl exec, and returns its exit code', async () => {
    kubectl.state.exitCode = 7;
    expect(await run('exec', 'acme.shop-main', 'web', '--', 'ls', '-l')).toEqual({ code: 7, out: '', err: '' });
    const options = ['--stdin=true', '--tty=false', '--container=web', '--quiet'];
    expect(namedCalls('exec')).toEqual([['exec', ...options, ...pod, '--', 'ls', '-l']]);
    const selector = `coppice.dev/environment-uid=${main.metadata.uid},coppice.dev/service=web`;
    expect(kubectl.calls).toContainEqual(expect.arrayContaining(['get', 'pods', `--selector=${selector}`]));
  });

  test('by kubectl port-forward', async () => {
    expect((await run('port-forward', 'acme.shop-main', 'web', '1234:80', ':81')).code).toBe(0);
    expect(namedCalls('port-forward')).toEqual([['port-forward', ...pod, '1234:80', ':81']]);
  });

  test('and reports a missing service or pod', async () => {
    expect((await run('exec', 'acme.shop-main', 'wbe')).err).toContain('Did you mean web?');
    kubectl.state.objects['pods'] = [];
    expect((await run('exec', 'acme.shop-main', 'web')).err).toContain('no pod of the service web runs now');
  });
});
