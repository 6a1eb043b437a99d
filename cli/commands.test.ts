// Runs commands against the whole API with fakes for its dependencies, over HTTP.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startServer, stopServer } from '../api/http/server.ts';
import { TestApi } from '../api/testing/test-api.ts';
import { EXIT } from './errors.ts';
import { runCommand, type RunOptions } from './testing/run-command.ts';

let api: TestApi;
let token: string;
let server: Server;
let url: string;
let folder: string;
let env: Record<string, string>;

beforeEach(async () => {
  api = new TestApi();
  api.now = Date.now();
  ({ token } = await api.login('alice@example.com'));
  api.addGroup('acme', ['alice@example.com']);
  api.addRepository('acme', 'shop');
  api.addEnvironment('acme', 'shop-main', 'shop', { webURL: 'http://main.example' });
  const started = await startServer(api.app, api.webSockets, 0);
  ({ server } = started);
  url = `http://localhost:${started.port}`;
  folder = mkdtempSync(join(tmpdir(), 'cli-'));
  env = { XDG_CONFIG_HOME: folder, COPPICE_URL: url, COPPICE_TOKEN: token, PATH: process.env['PATH'] ?? '' };
});
afterEach(async () => {
  await stopServer(server, api.webSockets, 100);
  rmSync(folder, { recursive: true });
});

const run = (args: string, options: RunOptions = {}) => runCommand(args.split(' '), { env, ...options });
const config = () => join(folder, 'coppice', 'config.json');

describe('exit codes', () => {
  test.each([
    ['0: success', 'group list', 0],
    ['2: an unknown command', 'env gte', 2],
    ['2: an unknown option', 'env list --nothing', 2],
    ['2: an unknown format', 'group list -o xml', 2],
    ['2: a wrong value', 'env ttl acme.shop-main soon', 2],
    ['1: a name that does not exist', 'env get acme.shop-mian', 1],
    ['8: a timeout', 'env wait acme.shop-main --for healthy --timeout 1', 8],
  ])('%s', async (_name, args, code) => expect((await run(args)).code).toBe(code));

  test('are in the help', async () => {
    const { code, out } = await run('--help');
    expect(code).toBe(0);
    for (const one of Object.values(EXIT)) expect(out).toMatch(new RegExp(`^ +${one}  \\w`, 'm'));
  });

  test('4: no token, or an expired token', async () => {
    const none = { ...env, COPPICE_TOKEN: '' };
    expect(await run('group list', { env: none })).toMatchObject({ code: 4, out: '' });
    api.now += 31 * 24 * 3600 * 1000;
    const ended = await run('group list');
    expect(ended).toMatchObject({ code: 4, out: '' });
    expect(ended.err).toContain('coppice login');
  });
});

test('names commands instead of requests', async () => {
  api.addEnvironment('acme', 'shop-built', 'shop', { state: 'built' });
  const { code, err } = await run('env create acme.shop-built');
  expect([code, err]).toEqual([1, expect.stringContaining('Use `coppice env build`, or `coppice env rebuild`')]);
  expect(err).not.toMatch(/PUT|POST/);
});

test.each([
  ['token create x --access foo', 'read, operate, administer'],
  ['vars set A=1 --visibility foo', 'always, buildtime'],
])('refuses an unknown choice: %s', async (args, choices) => {
  const { code, err } = await run(args);
  expect([code, err]).toEqual([2, expect.stringContaining(choices)]);
});

describe('output', () => {
  test('shows which commit each included repository came from', async () => {
    const backend = { name: 'backend', branches: ['cart', 'main'], branch: 'main', commit: '0123456789abcdef' };
    const search = { name: 'search', branches: ['cart'] };
    api.addEnvironment('acme', 'shop-cart', 'shop', { repositories: [backend, search] });
    const { out } = await run('env get acme.shop-cart');
    expect(out).toMatch(/INCLUDES +BRANCH +COMMIT\nacme\.backend +main +01234567\nacme\.search/);
  });

  test('has data on standard output, in the chosen form', async () => {
    expect((await run('group list')).out).toBe('GROUP   NAME\nacme    acme\n');
    expect((await run('group list -o name')).out).toBe('acme\n');
    expect(JSON.parse((await run('group list -o json')).out)).toEqual([{ id: 'acme', name: 'acme' }]);
    expect((await run('group list -o yaml')).out).toBe('- id: acme\n  name: acme\n');
    expect((await run('env list --all -o wide')).out).toContain('http://main.example');
  });

  test('suggests the nearest name', async () => {
    expect((await run('env get acme.shop-mian')).err).toContain('Did you mean acme.shop-main?');
    expect((await run('repo sync acme.shpo')).err).toContain('Did you mean acme.shop?');
    expect((await run('env spwan')).err).toContain('Did you mean spawn?');
    api.addEnvironment('acme', 'shop-web', 'shop', { services: [{ name: 'web', ready: true }] });
    expect((await run('logs acme.shop-web -s wbe')).err).toBe(
      'coppice: acme.shop-web has no service wbe. Did you mean web?\n',
    );
    expect((await run('token delete nope')).err).toBe('coppice: you have no API token nope. There are: none\n');
    await run('vars set --repo acme.shop NAME=1');
    expect((await run('vars unset --repo acme.shop NAEM')).err).toBe(
      'coppice: acme.shop has no variable NAEM. Did you mean NAME?\n',
    );
  });

  test('contains no control character of others, and no colours outside of a terminal', async () => {
    const evil = 'evil\u001b]0;x\u0007\u001b[31m';
    const services = [{ id: 'web', name: evil, ready: false, message: evil }];
    api.addEnvironment('acme', 'shop-evil', 'shop', { webURL: 'http://x/\u001b[2J', services });
    for (const args of [
      'env list --all -o wide',
      'env get acme.shop-evil',
      'env list --all -o json',
      'env list --all -o yaml',
    ]) {
      // oxlint-disable-next-line no-control-regex -- these must be absent
      expect((await run(args, { isTerminal: true })).out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    }
  });
});

test('overrides variables and the service file of one environment', async () => {
  const id = 'acme.shop-main';
  expect((await run(`env overrides ${id}`)).err).toBe(`${id} has no overrides\n`);
  await run('vars set --repo acme.shop A=1 B=1');
  expect((await run(`vars set A=2 --env ${id}`)).err).toBe(`A: set in ${id}. It takes effect with the next build\n`);
  writeFileSync(join(folder, 'own.yaml'), 'services: { web: { environment: { C: d } } }\n');
  expect((await run(`env overrides ${id} --file own.yaml`, { folder })).code).toBe(0);
  const shown = (await run(`env overrides ${id}`)).out;
  expect(shown).toMatch(/^NAME[\s\S]*\nA +2 [\s\S]*\n\nservices: .*\n$/);
  const listed = (await run(`vars list --env ${id}`)).out;
  expect(listed).toMatch(/A +2 +always +environment/);
  expect(listed).toMatch(/B +1 +always +repository/);
  expect((await run(`vars unset B --env ${id}`)).err).toBe(`coppice: ${id} has no variable B. Did you mean A?\n`);
  expect((await run('vars set --env A=1')).code).toBe(2);
  expect((await run('vars set --env --repo acme.shop A=1')).code).toBe(2);
  expect((await run(`env overrides ${id} --clear`)).err).toContain(`${id}: changed`);
  expect((await run(`env overrides ${id} -o json`)).out).toContain('"variables": []');
});

describe('in a git checkout', () => {
  const git = (...args: string[]) => execFileSync('git', ['-C', folder, ...args], { stdio: 'ignore' });
  beforeEach(() => {
    git('init', '--initial-branch=main');
    git('remote', 'add', 'origin', 'git@git.example:shop.git');
  });

  test('repository and ref come from the remote and the branch', async () => {
    expect((await run('env get -o name', { folder })).out).toBe('acme.shop-main\n');
    git('checkout', '-b', 'feature/x');
    const spawned = await run('env spawn -o json --ttl 1h', { folder });
    expect(spawned.code).toBe(0);
    expect(JSON.parse(spawned.out)).toMatchObject({ rid: 'acme.shop', gitRef: { name: 'feature/x', type: 'branch' } });
    const again = await run('env spawn -o name', { folder });
    expect([again.code, again.out]).toEqual([0, `${(JSON.parse(spawned.out) as { id: string }).id}\n`]);
  });

  test('the variables in effect are those of the branch', async () => {
    const { code, out } = await run('vars list --env -o name', { folder });
    expect([code, out]).toEqual([0, expect.stringContaining('COPPICE_')]);
  });

  test('another remote is named in the error', async () => {
    git('remote', 'set-url', 'origin', 'https://git.example/other');
    expect((await run('env list', { folder })).err).toContain('git.example/other');
  });
});

describe('sign-in', () => {
  const own = () => ({ XDG_CONFIG_HOME: folder });

  test('keeps the token in a file that only its owner reads, and ends it', async () => {
    const signedIn = await run(`login ${url} --with-token`, { env: own(), input: `${token}\n` });
    expect(signedIn).toMatchObject({ code: 0, out: '' });
    expect(statSync(config()).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'coppice')).mode & 0o777).toBe(0o700);
    expect((await run('group list -o name', { env: own() })).out).toBe('acme\n');
    expect((await run('context -o name', { env: own() })).out).toBe(`${new URL(url).host}\n`);
    expect((await run('logout', { env: own() })).code).toBe(0);
    expect(readFileSync(config(), 'utf8')).not.toContain(token);
    expect((await run('group list')).code).toBe(4);
  });

  test('forgets an API token without deleting it', async () => {
    const { out: apiToken } = await run('token create ci');
    await run(`login ${url} --with-token`, { env: own(), input: apiToken });
    const { code, err } = await run('logout', { env: own() });
    expect([code, err]).toEqual([0, expect.stringContaining('The API token stays valid')]);
    expect(readFileSync(config(), 'utf8')).not.toContain(apiToken.trim());
    expect((await run('group list', { env: { ...env, COPPICE_TOKEN: apiToken.trim() } })).code).toBe(0);
  });

  test('takes a password from standard input', async () => {
    const body = '{"email":"new@example.com","password":"correct horse"}';
    expect((await runCommand(['api', 'POST', '/api/user/register', '-d', body], { env })).code).toBe(0);
    const args = `login ${url} --email new@example.com --password-stdin`;
    expect(await run(args, { env: own(), input: 'wrong horse 12' })).toMatchObject({ code: 4 });
    const { code, err } = await run(args, { env: own(), input: 'correct horse\n' });
    expect([code, err]).toEqual([0, expect.stringContaining('as new@example.com')]);
  });

  test('tightens a file that others can read', async () => {
    await run(`login ${url} --with-token`, { env: own(), input: token });
    chmodSync(config(), 0o644);
    await run('group list', { env: own() });
    expect(statSync(config()).mode & 0o777).toBe(0o600);
  });

  test('sends the token of a context to its own server only', async () => {
    await run(`login ${url} --with-token`, { env: own(), input: token });
    expect(
      (await run('group list', { env: { ...own(), COPPICE_URL: url.replace('localhost', '127.0.0.1') } })).code,
    ).toBe(4);
    expect((await run('api GET //evil.example/x', { env: own() })).err).toContain('is not a path of');
  });

  test('sends the token of COPPICE_URL to no other server', async () => {
    await run(`login ${url.replace('localhost', '127.0.0.1')} --with-token --context other`, {
      env: own(),
      input: token,
    });
    const ofAnother = { ...own(), COPPICE_URL: url, COPPICE_TOKEN: 'cpt_wrong' };
    expect((await run('group list --context other', { env: ofAnother })).code).toBe(0);
    expect((await run('group list', { env: ofAnother })).code).toBe(4);
  });

  test('refuses a context of another server before it signs in', async () => {
    await run(`login ${url} --with-token --context here`, { env: own(), input: token });
    const other = url.replace('localhost', '127.0.0.1');
    const { code, err } = await run(`login ${other} --with-token --context here`, { env: own(), input: '' });
    expect([code, err]).toEqual([2, expect.stringContaining('already names')]);
  });
});

test('sets, lists and deletes variables', async () => {
  expect((await run('vars set --repo acme.shop A=1')).code).toBe(0);
  expect((await run('vars set --repo acme.shop A=2 B=x=y')).code).toBe(0);
  expect((await run('vars set --repo acme.shop S --secret', { input: 'hidden\n' })).code).toBe(0);
  const listed = await run('vars list --repo acme.shop');
  expect(listed.out).toMatch(/A +2 +always/);
  expect(listed.out).toMatch(/B +x=y /);
  expect(listed.out).not.toContain('hidden\n');
  expect((await run('vars unset --repo acme.shop A')).code).toBe(0);
  expect((await run('vars list --repo acme.shop -o name')).out).toBe('B\nS\n');
});

test.each(['vars unset --repo acme.shop', 'vars unset --group acme', 'group remove acme'])(
  '%s .. does not reach what contains the name',
  async (command) => {
    for (const name of ['..', '.', '%2e%2e']) {
      const { code, err } = await run(`${command} ${name}`);
      expect([code, err]).toEqual([name === '%2e%2e' ? 1 : 2, expect.not.stringContaining('deleted')]);
    }
    expect((await run('env get acme.shop-main')).code).toBe(0);
  },
);

test('finds a mistake in the timeout before it sends a request', async () => {
  const { code } = await run('env rebuild acme.shop-main --yes --wait --timeout 10min');
  expect([code, api.cluster.patches]).toEqual([2, []]);
});

describe('logs', () => {
  test('of an environment that does not exist are an error, also with --tail', async () => {
    const { code, err } = await run('logs acme.shop-mian --tail 5');
    expect([code, err]).toEqual([1, expect.stringContaining('Did you mean acme.shop-main?')]);
  });

  test.each([
    ['logs acme.shop-main -f --tail 5', '--service'],
    ['logs acme.shop-main -o yaml', 'not as yaml'],
  ])('%s is refused', async (args, why) => {
    const { code, err } = await run(args);
    expect([code, err]).toEqual([2, expect.stringContaining(why)]);
  });
});

test('asks for the value of a variable at a terminal, without showing secrets', async () => {
  const hidden = await run('vars set --repo acme.shop S --secret', { typed: 'x' });
  expect([hidden.code, hidden.err]).toEqual([0, expect.stringContaining('Value of S: (hidden)')]);
  expect((await run('vars set --repo acme.shop N', { typed: 'shown' })).err).toContain('Value of N: \n');
  expect((await run('vars list --repo acme.shop')).out).toMatch(/N +shown/);
});

test('sets no empty value by mistake', async () => {
  const refused = await run('vars set --repo acme.shop FOO');
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('write FOO=')]);
  expect((await run('vars set --repo acme.shop FOO=')).code).toBe(0);
});

describe.each(['delete', 'rebuild'])('env %s', (verb) => {
  const args = `env ${verb} acme.shop-main`;

  test('names at a terminal what it deletes, and does nothing without consent', async () => {
    const refused = await run(args, { typed: '' });
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('acme.shop-main (branch main')]);
    expect(refused.err).toContain('nothing was deleted');
  });

  test.each([
    ['after consent', args, { typed: 'y' }],
    ['with --yes', `${args} --yes`, { typed: '' }],
    ['without a terminal', args, {}],
  ])('deletes %s', async (_name, line, options) => {
    const { code, err } = await run(line, options);
    expect([code, err]).toEqual([0, expect.not.stringContaining('nothing was deleted')]);
  });
});

test('creates, lists and deletes API tokens', async () => {
  const created = await run('token create ci --access operate --repo acme.shop --expires 2d');
  expect([created.code, created.out]).toEqual([0, expect.stringMatching(/^cpt_/)]);
  expect((await run('token list')).out).toMatch(/ci +\S+ +operate +- +acme\.shop/);
  const limited = { ...env, COPPICE_TOKEN: created.out.trim() };
  expect((await run('vars set --repo acme.shop A=1', { env: limited })).code).toBe(1);
  expect((await run('token delete ci')).code).toBe(0);
  expect((await run('group list', { env: limited })).code).toBe(4);
});

test('says when an environment ends', async () => {
  const environment = 'env ttl acme.shop-main';
  const until = new Date(Date.now() + 30_000).toISOString().slice(0, 16);
  expect((await run(`${environment} 30`)).err).toContain(`the contents of acme.shop-main are deleted at ${until}`);
  expect((await run(`${environment} 0`)).err).toBe('acme.shop-main has no time to live\n');
  expect(await run(environment)).toMatchObject({ code: 0, err: 'acme.shop-main has no time to live\n' });
});

test('creates a group', async () => {
  const { code, out } = await run('group create Tools');
  expect([code, out]).toEqual([0, 'GROUP   NAME\ntools   Tools\n']);
});

describe('members of a group', () => {
  const member = (email: string, role: string) => expect.stringMatching(new RegExp(`^${email} +${role}$`, 'm'));

  test('are invited by a link, listed and removed', async () => {
    const invited = await run('group invite acme bob@example.com');
    expect(invited).toMatchObject({
      ...{ code: 0, out: expect.stringMatching(`^${url}/register#invitation=[^ ]+\n$`) },
      err: expect.stringContaining('bob@example.com: added to acme'),
    });
    await run('group invite acme eve@example.com --role owner');
    const { out } = await run('group members acme');
    expect(out).toEqual(member('bob@example.com', 'member'));
    expect(out).toEqual(member('eve@example.com', 'owner'));
    expect((await run('group remove acme bob@example.com')).code).toBe(0);
    expect((await run('group members acme -o name')).out).not.toContain('bob');
    expect((await run('group remove acme bob@example.com')).err).toContain('acme has no member bob@example.com');
  });

  test('of another group cannot be read', async () => {
    api.addGroup('rival', ['eve@example.com']);
    for (const args of ['group members rival', 'group invite rival bob@example.com', 'group delete rival --yes']) {
      expect(await run(args)).toMatchObject({ code: 1, err: expect.stringContaining('there is no group rival') });
    }
  });
});

test.each([
  ['group delete acme', 'Delete acme with 1 repository, 1 environment and all volumes?'],
  ['repo delete acme.shop', 'Delete acme.shop with 1 environment and all volumes?'],
])('%s asks at a terminal', async (args, question) => {
  const refused = await run(args, { typed: 'n' });
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining(question)]);
  expect((await run('env get acme.shop-main')).code).toBe(0);
  expect(await run(args, { typed: 'y' })).toMatchObject({ code: 0, err: expect.stringContaining('is being deleted') });
});

test('shows limits in the units of its options', async () => {
  const { code, err } = await run('env share acme.shop-main --for 90d');
  expect([code, err]).toEqual([1, 'coppice: these values are not valid\n  --for must be from 1m to 30d\n']);
  expect((await run('env access acme.shop-main password', { input: 'short' })).err).toContain('the password must have');
});

test('says which build runs after a failed one', async () => {
  const startedAt = '2026-01-01T00:00:00Z';
  const build = { number: 3, result: 'failed', startedAt, finishedAt: startedAt, commit: 'b'.repeat(40) } as const;
  const deployed = { ...build, number: 1, result: 'succeeded', revision: 'r', commit: 'a'.repeat(40) } as const;
  api.addEnvironment('acme', 'shop-red', 'shop', { state: 'built', build, deployed });
  const { out } = await run('env get acme.shop-red');
  expect(out).toContain(`build 3 of ${'b'.repeat(12)} failed; build 1 of ${'a'.repeat(12)} keeps running\n`);
  expect(out).toContain('access: public\n');
});

test('shows contents that are being deleted', async () => {
  api.addEnvironment('acme', 'shop-old', 'shop', { state: 'built', namespaceUID: 'n' }, { active: false });
  expect((await run('env list --all')).out).toMatch(/^acme.shop-old +main +deleting /m);
});

test('creates an environment without a build', async () => {
  const args = 'env spawn acme.shop --branch quiet --no-build -o json';
  const { id, build } = JSON.parse((await run(args)).out) as { id: string; build?: object };
  expect([id, build]).toEqual(['acme.shop-quiet', undefined]);
});

test('shows and changes settings', async () => {
  expect((await run('repo settings acme.shop environmentTTL=3600 sync.newestTags=3')).code).toBe(0);
  expect((await run('repo settings acme.shop')).out).toContain('environmentTTL: 3600');
});

test('prints only what was changed of settings, and accepts a duration', async () => {
  expect((await run('repo settings acme.shop environmentTTL=1d')).out).toBe('environmentTTL: 86400\n');
  expect((await run('repo settings acme.shop environmentTTL=soon')).code).toBe(2);
  const text = Buffer.from('services: {}').toString('base64');
  const changed = await run(`repo settings acme.shop serviceFile.serviceFile=${text}`);
  expect(changed.out).toBe('serviceFile:\n  serviceFile: "services: {}"\n');
});

test('shows and changes the own settings of an environment', async () => {
  expect((await run('env settings acme.shop-main')).out).toBe('sleep: {}\n');
  const changed = await run('env settings acme.shop-main sleep.afterSeconds=2h sleep.wakeOn=login');
  expect([changed.code, changed.out]).toEqual([0, 'sleep:\n  wakeOn: login\n  afterSeconds: 7200\n']);
  expect((await run('env settings acme.shop-main sleep.wakeOn=null')).out).toBe('sleep:\n  wakeOn: null\n');
  const shown = await run('env settings acme.shop-main -o json');
  expect(JSON.parse(shown.out)).toEqual({ sleep: { afterSeconds: 7200 } });
  expect((await run('env settings acme.shop-main sleep.afterSeconds=soon')).code).toBe(2);
  expect((await run('env settings acme.shop-mian sleep.wakeOn=never')).err).toContain('acme.shop-main');
  expect((await run('repo settings acme.shop sleep.afterSeconds=1d')).out).toBe('sleep:\n  afterSeconds: 86400\n');
});

describe('rules for automatic environments', () => {
  const file = () => join(folder, 'rules.yaml');
  const text = '- branches: [main]\n- pullRequests: { labels: [preview] }\n  environment: built\n';
  beforeEach(async () => {
    writeFileSync(file(), text);
    await api.listRefs('shop', {
      branches: ['dev', 'main'],
      pullRequests: [{ number: 7, labels: ['preview'], isFork: false }],
      leftOut: { branches: 2, tags: 0, pullRequests: 0 },
    });
  });

  test('are tried as a table that says why, and not saved', async () => {
    const { code, out, err } = await run(`repo rules acme.shop --file ${file()}`);
    expect([code, out]).toEqual([
      0,
      [
        'REF              RULE   CREATES           WHY',
        'dev              -      none              rule 1: the name matches none of its branches',
        'main             1      already has one   rule 1: the name matches main',
        'pull request 7   2      built             rule 2: has the label preview, comes from the repository',
        '',
      ].join('\n'),
    ]);
    expect(err).toContain('rule 1 matches 1 ref, rule 2 matches 1 ref, no rule matches 1\n2 more refs are not shown\n');
    expect((await run('repo rules acme.shop')).out).toMatch(/^dev +- +empty +there are no rules$/m);
  });

  test('are saved from a file beside other settings, also as the value of rules', async () => {
    writeFileSync(file(), `rules:\n${text}`);
    const saved = await run(`repo settings acme.shop --rules ${file()} sync.newestTags=3 -o json`);
    expect(JSON.parse(saved.out)).toMatchObject({
      sync: { newestTags: 3, rules: [{ branches: ['main'], environment: 'empty' }, { environment: 'built' }] },
    });
    expect((await run('repo rules acme.shop -o name')).out).toBe('dev\nmain\n7\n');
    expect((await run('repo settings acme.shop sync.rules=null')).out).toBe('sync:\n  rules: null\n');
  });

  test.each([
    ['no: list', 'contains no list of rules'],
    ['a: [', 'is not valid YAML'],
  ])('that are %s are refused', async (content, message) => {
    writeFileSync(file(), content);
    const refused = await run(`repo rules acme.shop --file ${file()}`);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining(message)]);
  });
});

test('sends any request', async () => {
  expect((await run('api GET groups')).out).toBe('[\n  {\n    "id": "acme",\n    "name": "acme"\n  }\n]\n');
  const refused = await run('api POST groups -F name=!!!');
  expect([refused.code, refused.out, refused.err]).toEqual([1, '', expect.stringContaining('name')]);
});

test('reports the problems of a service file under its own name', async () => {
  const file = join(folder, 'bad.yaml');
  writeFileSync(file, 'services: { web: { image: nginx, ports: [nonsense] } }\n');
  const { code, out, err } = await run('check bad.yaml --repo acme.shop', { folder });
  expect([code, out]).toEqual([1, expect.stringMatching(/^bad\.yaml:1:/)]);
  expect(err).toContain('1 error in bad.yaml');
  const missing = await run('check none.yaml --repo acme.shop', { folder });
  expect([missing.code, missing.err]).toEqual([2, 'coppice: none.yaml cannot be read: there is no such file\n']);
});

describe('the check of a file in a stranger’s checkout', () => {
  const git = (at: string, ...args: string[]) => execFileSync('git', ['-C', at, ...args], { stdio: 'ignore' });
  let fork: string;
  let own: string;

  beforeEach(() => {
    [fork, own] = [join(folder, 'fork'), join(folder, 'own')];
    for (const at of [fork, own]) {
      mkdirSync(at);
      git(at, 'init');
    }
    const file = 'services: { web: { image: nginx, env_file: [{ path: x.env, format: raw }] } }\n';
    writeFileSync(join(fork, 'compose.yaml'), file);
    writeFileSync(join(own, 'x.env'), 'TOKEN=mine\n');
    writeFileSync(join(own, 'compose.yaml'), file);
  });

  const checked = async (name: string) => {
    for (const at of [fork, own]) git(at, 'add', '--all');
    return run(`check ${name} --repo acme.shop -o json`, { folder: fork });
  };

  test('sends files of the checkout', async () => {
    writeFileSync(join(fork, 'x.env'), 'TOKEN=theirs\n');
    expect(await checked('compose.yaml')).toMatchObject({ code: 0, out: expect.stringContaining('theirs') });
  });

  test('reads no device', async () => {
    symlinkSync('/dev/zero', join(fork, 'zero.yaml'));
    const { code, err } = await checked('zero.yaml');
    expect([code, err]).toEqual([1, expect.stringContaining('leads out of the checkout')]);
    const outside = await run('check /dev/zero --repo acme.shop', { folder });
    expect([outside.code, outside.err]).toEqual([2, expect.stringContaining('it is a device')]);
  });

  test('notes that it reads only the file when git cannot list the others', async () => {
    writeFileSync(join(fork, '.git', 'HEAD'), 'broken');
    const { err } = await run('check compose.yaml --repo acme.shop', { folder: fork });
    expect(err).toContain('git cannot list the files of the checkout');
  });

  test('sends no file that a link leads to', async () => {
    symlinkSync(join(own, 'x.env'), join(fork, 'x.env'));
    const { code, out } = await checked('compose.yaml');
    expect([code, out]).toEqual([1, expect.not.stringContaining('mine')]);
  });

  test.each([
    ['a service file that is a link', 'deploy.yaml', 'compose.yaml'],
    ['a service file in a folder that is a link', 'deploy', ''],
  ])('refuses %s', async (_what, link, target) => {
    symlinkSync(join(own, target), join(fork, link));
    const { code, out, err } = await checked(target === '' ? `${link}/compose.yaml` : link);
    expect([code, out, err]).toEqual([1, '', expect.stringContaining('leads out of the checkout')]);
  });
});

test('completes commands, options and ids', async () => {
  const words = (...typed: string[]) => runCommand(['__complete', '--', ...typed], { env });
  expect((await words('en')).out).toBe('env\n');
  expect((await words('env', 'sp')).out).toBe('spawn\n');
  expect((await words('env', 'wait', '--ti')).out).toBe('--timeout\n');
  expect((await words('env', 'get', 'acme.')).out).toBe('acme.shop-main\n');
  api.addEnvironment('acme', 'shop-web', 'shop', { services: [{ name: 'web', ready: true }] });
  await run('vars set --repo acme.shop NAME=1');
  await run('token create ci');
  await run(`login ${url} --with-token --context here`, { input: token });
  for (const [typed, expected] of [
    ['logs acme.shop-web --service ', 'web\n'],
    ['group list -o ', 'table\nwide\njson\nyaml\nname\n'],
    ['env list --context ', 'here\n'],
    ['vars set --visibility ', 'always\nbuildtime\n'],
    ['env wait --for h', 'healthy\n'],
    ['vars unset --repo acme.shop ', 'NAME\n'],
    ['token delete ', 'ci\n'],
    ['env get acme.shop-web ', ''],
  ] as const) {
    expect([typed, (await words(...typed.split(' '))).out]).toEqual([typed, expected]);
  }
  expect((await run('completion bash')).out).toContain('complete ');
  expect((await run('completion csh')).code).toBe(2);
});
