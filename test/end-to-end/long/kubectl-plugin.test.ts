// The command line as a plugin of kubectl, with the custom resources of the cluster: of an administrator, and of a member.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { buildCli } from '../../../cli/build.ts';
import { PROGRAMS_FOLDER } from '../../support/paths.ts';
import { waitFor } from '../../support/wait-for.ts';
import { codeOf } from '../../docs/code-blocks.ts';
import { pageWith, randomName, startHarness, type Harness } from '../harness.ts';
import { smallPage } from '../small-page.ts';

const link = codeOf('docs/how-to/use-the-command-line.md', 'plugin');

let harness: Harness;
let folder: string;
let repository: string;
/** Kubeconfigs by whose permissions they have. */
const kubeconfigs = { administrator: '', member: '', stranger: '' };
type User = keyof typeof kubeconfigs;

/** Runs a shell script as a user of the cluster, without a login at the REST API. */
async function sh(user: User, script: string) {
  const bin = join(folder, '.local/bin');
  const path = [bin, dirname(process.execPath), PROGRAMS_FOLDER, process.env['PATH'] ?? ''].join(':');
  const env = { HOME: folder, PATH: path, KUBECONFIG: kubeconfigs[user] };
  const child = spawn('sh', ['-euc', script], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const texts = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => (texts.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (texts.err += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...texts };
}

/** Writes a kubeconfig whose user acts as another one, as the API server knows a member by OpenID Connect. */
async function kubeconfigOf(name: string, user: string): Promise<string> {
  const text = await harness.kubectl(['config', 'view', '--raw', '--flatten', '--minify', '--output=json']);
  const config = JSON.parse(text) as { users: { user: object }[] };
  const users = config.users.map((one) => ({ ...one, user: { ...one.user, as: user } }));
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify({ ...config, users }), { mode: 0o600 });
  return path;
}

beforeAll(async () => {
  harness = await startHarness('plugin');
  folder = mkdtempSync(join(tmpdir(), 'plugin-'));
  kubeconfigs.administrator = harness.connection.kubeconfig;
  kubeconfigs.member = await kubeconfigOf('member', harness.client.email ?? '');
  kubeconfigs.stranger = await kubeconfigOf('stranger', `${randomName('bob')}@example.com`);
  repository = await harness.addRepository('shop', await harness.push('shop', 'main', smallPage('by kubectl')));
  const bin = join(folder, '.local/bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'coppice'), await buildCli());
  chmodSync(join(bin, 'coppice'), 0o755);
}, 120_000);

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await harness.remove();
}, 60_000);

test('an administrator spawns, opens and lists an environment', async () => {
  const installed = await sh('administrator', link);
  expect(installed).toMatchObject({ code: 0 });
  const spawned = await sh('administrator', `kubectl coppice env spawn ${repository} --branch main --wait`);
  expect(spawned).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^ENVIRONMENT.*\n\S+ +main +built +healthy +1\/1/),
  });
  const { out } = await sh('administrator', `kubectl coppice env open ${repository}-main`);
  await pageWith(out.trim(), 'by kubectl');
  const listed = await sh('administrator', `kubectl coppice env list --repo ${repository} -o name`);
  expect(listed).toEqual({ code: 0, out: `${repository}-main\n`, err: '' });
  // The REST API shows the same fields.
  const shown = await sh('administrator', `kubectl coppice env get ${repository}-main -o json`);
  expect(JSON.parse(shown.out)).toEqual(await harness.client.environment(`${repository}-main`));
}, 200_000);

test('a member reads, requests and waits in the own group, and creates nothing', async () => {
  const id = `${repository}-main`;
  expect((await sh('member', 'kubectl coppice env list')).err).toContain('--namespace group-NAME');
  const namespace = `-n group-${harness.group}`;
  expect((await sh('member', `kubectl coppice env list ${namespace} -o name`)).out).toBe(`${id}\n`);
  expect((await sh('member', `kubectl coppice group list ${namespace} -o name`)).out).toBe(`${harness.group}\n`);
  expect((await sh('member', `kubectl coppice repo list ${namespace} -o name`)).out).toBe(`${repository}\n`);
  expect((await sh('member', `kubectl coppice env get ${repository}-mian`)).err).toContain(`Did you mean ${id}?`);
  expect((await sh('member', `kubectl coppice env ttl ${namespace} shop-main 1h -o wide`)).out).toMatch(/ 20\d\d-.*Z/);
  const log = await sh('member', `kubectl coppice logs ${id} --service web --tail 5`);
  expect(log).toMatchObject({ code: 0 });
  // The ref has an environment, so none is created.
  const built = await sh('member', `kubectl coppice env spawn ${repository} --branch main --wait -o json`);
  expect({ ...built, out: JSON.parse(built.out) as unknown }).toMatchObject({ code: 0, out: { build: { number: 2 } } });
  const created = await sh('member', `kubectl coppice env spawn ${repository} --branch other`);
  expect(created).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringMatching(/cannot create resource "environments"/),
  });
  const synced = await sh('member', `kubectl coppice repo sync ${repository}`);
  expect(synced).toMatchObject({ code: 1, err: expect.stringContaining('cannot patch resource "repositories"') });
  const deleted = await sh('member', `kubectl coppice env delete ${id}`);
  expect(deleted).toMatchObject({ code: 0, err: expect.stringContaining('is being deleted') });
}, 200_000);

test('strangers and ended logins get a sentence to act on', async () => {
  const id = `${repository}-main`;
  const refused = await sh('stranger', `kubectl coppice env get ${id}`);
  expect(refused).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringMatching(/^kubectl coppice: the cluster refuses this: .*cannot get.*\n$/),
  });
  const config = JSON.parse(
    await harness.kubectl(['config', 'view', '--raw', '--flatten', '--minify', '--output=json']),
  ) as object & { users: { name: string }[] };
  kubeconfigs.stranger = join(folder, 'ended');
  const users = config.users.map(({ name }) => ({ name, user: { token: 'ended' } }));
  writeFileSync(kubeconfigs.stranger, JSON.stringify({ ...config, users }));
  const ended = await sh('stranger', `kubectl coppice env get ${id}`);
  expect(ended).toMatchObject({ code: 4, out: '', err: expect.stringContaining('Sign in to the cluster again') });
});

test('kubectl completes its commands and ids', async () => {
  const program = '~/.local/bin/kubectl_complete-coppice';
  await sh('administrator', `kubectl coppice completion > ${program}; chmod +x ${program}`);
  expect((await sh('administrator', "kubectl __complete coppice env sp ''")).code).toBe(0);
  expect((await sh('administrator', 'kubectl __complete coppice env sp')).out).toMatch(/^spawn$/m);
  // A completion that takes too long shows nothing, so that the shell does not wait for it.
  await waitFor('the ids to be completed', 30, async () => {
    const { out } = await sh('administrator', `kubectl __complete coppice repo sync ${harness.group}`);
    return out.includes(repository) ? true : undefined;
  });
});
