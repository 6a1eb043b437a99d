// Shells and forwarded ports, by the command line as the server delivers it and by the panel in Chromium.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { WINDOW } from '../../shell-protocol/frames.ts';
import { localhostLookup, send } from '../client/local-http.ts';
import { waitFor } from '../support/wait-for.ts';
import { codeOf } from '../docs/code-blocks.ts';
import { pushRepository } from '../sample/push-repository.ts';
import { namespaceOf, startHarness, type Harness } from './harness.ts';
import { axeViolations, PanelBrowser } from './panel-browser.ts';
import { pushPullRequest } from './push-pull-request.ts';

const install = codeOf('docs/how-to/use-the-command-line.md', 'install');
const [copy] = [codeOf('docs/how-to/shell.md', 'copy')];

let harness: Harness;
let folder: string;
let token: string;
/** The environment of the branch, and of a pull request that may come from a fork. */
let id: string;
let fork: string;
const children: ChildProcess[] = [];

const files = (text: string) => ({
  'compose.yaml': `
services:
  web: { build: ., ports: ['8080:8080'], environment: { SECRET: in-the-container } }
  bare: { build: { context: ., target: bare }, command: ['/busybox', 'httpd', '-f', '-p', '8081'] }
`,
  Dockerfile: `FROM busybox:1 AS web
COPY index.html /www/
CMD ["httpd", "-f", "-p", "8080", "-h", "/www"]
FROM scratch AS bare
COPY --from=web /bin/busybox /busybox
FROM web
`,
  'index.html': `${text}\n`,
});

/** Nothing is built. */
const imageOnly = 'services: { web: { image: busybox:1, command: httpd -f -p 8080 } }\n';

interface Ran {
  code: number | null;
  out: string;
  err: string;
}

function start(script: string, env: Record<string, string> = {}): ChildProcess {
  const child = spawn('sh', ['-euc', script], {
    cwd: folder,
    env: {
      HOME: folder,
      TERM: 'xterm',
      PATH: `${join(folder, '.local/bin')}:${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
      ...{ COPPICE_URL: harness.connection.apiUrl, COPPICE_TOKEN: token, server: harness.connection.apiUrl, id },
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own, which ends together.
    detached: true,
  });
  children.push(child);
  return child;
}

async function sh(script: string, env: Record<string, string> = {}): Promise<Ran> {
  const child = start(script, env);
  const texts = { out: '', err: '' };
  child.stdout?.on('data', (chunk: Buffer) => (texts.out += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (texts.err += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...texts };
}

beforeAll(async () => {
  harness = await startHarness('shell');
  token = harness.client.token ?? '';
  folder = mkdtempSync(join(tmpdir(), 'shell-'));
  const url = `${harness.connection.gitUrl}/${harness.group}/shop.git`;
  await pushRepository({ url, branch: 'main', files: files('the page') });
  await pushRepository({ url, branch: 'fork', files: { 'compose.yaml': imageOnly } });
  await pushPullRequest(url, 'fork', 7);
  const repository = await harness.addRepository('shop', url);
  id = await harness.spawn(repository, 'main');
  fork = await harness.spawn(repository, '7', { gitRef: { name: '7', type: 'pull request' } });
  const installed = await sh(install);
  if (installed.code !== 0) throw new Error(`the command line was not installed: ${installed.err}`);
  await Promise.all([id, fork].map((one) => harness.built(one)));
}, 400_000);

afterAll(async () => {
  for (const { pid, exitCode } of children) if (pid !== undefined && exitCode === null) process.kill(-pid, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true });
  await harness.remove();
}, 60_000);

describe('coppice exec', () => {
  test('passes on bytes, keeps errors apart, and returns the exit code', async () => {
    const script = `
      head -c 5000000 /dev/urandom > in
      coppice exec $id web -- cat < in > out
      cmp in out
      coppice exec -n $id web -- sh -c 'echo "$SECRET $1"; echo apart >&2; exit 7' sh "two  words"`;
    expect(await sh(script)).toEqual({ code: 7, out: 'in-the-container two  words\n', err: 'apart\n' });
  });

  test('copies files as the guide says', async () => {
    writeFileSync(join(folder, 'copied.txt'), 'a\u0000b\n');
    const { code, err } = await sh(copy, { environment: id, service: 'web' });
    expect([code, err]).toEqual([0, '']);
    expect((await sh('cmp copied.txt copy/copied.txt')).code).toBe(0);
  });

  test('is a shell at a terminal, which passes on the size, its changes and Ctrl-C', async () => {
    // Each key is pressed when the terminal shows what it waits for, however long that takes.
    // One program waits for the new size and for Ctrl-C: between two, no process would be there to interrupt.
    const script = `
      shown() { for i in $(seq 400); do grep -q -e "$1" shown.txt && return; sleep 0.2; done; exit 1; }
      keys() { shown '# '; printf 'stty size\\n'; shown '^33 91'; touch resize
        printf 'sh -c "until stty size | grep 40.100; do sleep 1; done; sleep 300"\\n'; shown '^40 100'; printf '\\003'; shown '\\^C'
        printf 'echo "$SECRET" | tr a-z A-Z; exit 5\\n'; shown IN-THE-CONTAINER; sleep 1; }
      touch shown.txt
      keys | script -qefc 'stty cols 91 rows 33; (while [ ! -e resize ]; do sleep 0.2; done; stty cols 100 rows 40 </dev/tty) & coppice exec $id web' shown.txt`;
    const { code, out } = await sh(script);
    expect([code, out]).toEqual([5, expect.stringMatching(/33 91[\s\S]*40 100[\s\S]*\^C[\s\S]*IN-THE-CONTAINER/)]);
  }, 120_000);

  test('reports an image without a shell, and a service that does not exist', async () => {
    const bare = await sh('coppice exec $id bare');
    expect([bare.code, bare.err]).toEqual([1, expect.stringContaining('the image has no program sh')]);
    expect(await sh('coppice exec $id bare -- /busybox echo works')).toEqual({ code: 0, out: 'works\n', err: '' });
    expect((await sh('coppice exec $id wbe')).err).toContain('Did you mean web?');
  });
});

test('coppice port-forward connects programs to a service', async () => {
  const child = start('exec coppice port-forward $id web :8080 :9');
  let noted = '';
  child.stderr?.on('data', (chunk: Buffer) => (noted += chunk.toString()));
  const [page, closed] = await waitFor('the ports', 30, () => {
    const ports = [...noted.matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port]) => port);
    return Promise.resolve(ports.length === 2 ? ports : undefined);
  });
  const answers = Array.from({ length: 5 }, () => send(`http://127.0.0.1:${page}/`));
  for (const { text } of await Promise.all(answers)) expect(text).toBe('the page\n');
  await expect(send(`http://127.0.0.1:${closed}/`)).rejects.toThrow();
  await waitFor('the reason', 10, () => Promise.resolve(noted.includes('nothing listens at this port') || undefined));
  child.kill('SIGINT');
  const [code] = (await once(child, 'close')) as [number | null];
  expect(code).toBe(0);
}, 60_000);

describe('is refused', () => {
  const exec = (script = 'coppice exec $id web -- true', env: Record<string, string> = {}) => sh(script, env);

  test('to another account', async () => {
    const stranger = await harness.newUser();
    const { code, err } = await exec(undefined, { COPPICE_TOKEN: stranger.token ?? '' });
    expect([code, err]).toEqual([1, expect.stringContaining('you cannot see it')]);
  });

  test.each(['read', 'operate'])('to a token with the access %s', async (access) => {
    const expirationTime = new Date(Date.now() + 3600_000).toISOString();
    const body = { name: `only-${access}`, expirationTime, scopes: { access } };
    const made = await harness.client.call(z.looseObject({ token: z.string() }), 'POST', '/api/user/tokens', body);
    const { code, err } = await exec(undefined, { COPPICE_TOKEN: made.token });
    expect([code, err]).toEqual([1, expect.stringMatching(/read-only token|needs the access administer/)]);
  });

  test('for a pull request that may come from a fork', async () => {
    for (const what of ['exec $id web -- true', 'port-forward $id web 18080:8080']) {
      const { code, err } = await exec(`coppice ${what}`, { id: fork });
      expect([code, err]).toEqual([1, expect.stringContaining('the code comes from a fork')]);
    }
  });

  test('by Kubernetes, except for trusted environments', async () => {
    const can = async (namespace: string, what: string) => {
      const as = '--as=system:serviceaccount:coppice-system:coppice-api';
      const [verb = '', resource = '', subresource] = what.split(/[ /]/);
      const of = subresource === undefined ? [] : [`--subresource=${subresource}`];
      const asked = harness.kubectl(['auth', 'can-i', verb, resource, ...of, '--namespace', namespace, as]);
      return (await asked.catch((error: unknown) => String(error))).includes('yes');
    };
    expect(await can(namespaceOf(id), 'create pods/exec')).toBe(true);
    for (const namespace of [namespaceOf(fork), `group-${harness.group}`, 'coppice-system', 'kube-system', 'default']) {
      expect([namespace, await can(namespace, 'create pods/exec')]).toEqual([namespace, false]);
      expect([namespace, await can(namespace, 'create pods/portforward')]).toEqual([namespace, false]);
    }
    expect(await can(namespaceOf(id), 'get secrets')).toBe(false);
  });
});

/** Starts a command that says when it runs, and returns how it ended after `act`. */
async function endedBy(act: () => Promise<unknown>, env: Record<string, string> = {}): Promise<Ran & { ms: number }> {
  const child = start('coppice exec -n $id web -- sh -c "echo runs; sleep 300"', env);
  const texts = { out: '', err: '' };
  child.stdout?.on('data', (chunk: Buffer) => (texts.out += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (texts.err += chunk.toString()));
  const closed = once(child, 'close') as Promise<[number | null]>;
  await waitFor('the command to run', 30, () => Promise.resolve(texts.out.includes('runs') || undefined));
  await act();
  const since = performance.now();
  const [code] = await closed;
  return { code, ...texts, ms: performance.now() - since };
}

describe('ends', () => {
  test('when its token is revoked', async () => {
    const client = await harness.client.withApiToken('revoked', new Date(Date.now() + 3600_000));
    const revoke = () => harness.client.call(z.unknown(), 'DELETE', '/api/user/tokens?name=revoked');
    const { code, err, ms } = await endedBy(revoke, { COPPICE_TOKEN: client.token ?? '' });
    expect([code, err]).toEqual([4, expect.stringContaining('does not accept the token')]);
    expect(ms).toBeLessThan(5000);
  }, 60_000);

  test('when the member leaves the group', async () => {
    const member = await harness.newUser();
    const path = `/api/group/${harness.group}/members`;
    await harness.client.call(z.unknown(), 'POST', path, { name: member.email });
    const leave = () => harness.client.call(z.unknown(), 'DELETE', `${path}/${member.email}`);
    const { code, ms } = await endedBy(leave, { COPPICE_TOKEN: member.token ?? '' });
    expect(code).toBe(4);
    expect(ms).toBeLessThan(5000);
  }, 60_000);
});

test('output waits for its reader: a client that confirms nothing gets one window', async () => {
  const url = new URL(`/api/environment/${id}/services/web/exec`, harness.connection.apiUrl);
  url.protocol = 'ws:';
  const socket = new WebSocket(url, { headers: { 'x-service-token': token }, lookup: localhostLookup });
  let bytes = 0;
  socket.on('message', (data: Buffer, isBinary: boolean) => (bytes += isBinary ? data.length : 0));
  await once(socket, 'open');
  const command = ['head', '-c', '1000000000', '/dev/zero'];
  socket.send(JSON.stringify({ start: { command, input: false } }));
  await waitFor('the window to be full', 30, () => Promise.resolve(bytes >= WINDOW || undefined));
  await new Promise((resolve) => setTimeout(resolve, 2000));
  expect(bytes).toBeLessThan(2 * WINDOW);
  socket.terminate();
}, 60_000);

test('the audit log says who connected where, and not what was transferred', async () => {
  const secret = `typed-${harness.group}`;
  await sh(`echo ${secret} | coppice exec $id web -- sh -c 'cat; : ${secret}'`);
  const line = z.looseObject({
    audit: z.literal(true),
    email: z.string(),
    address: z.string(),
    session: z.looseObject({ event: z.string(), verb: z.string(), namespace: z.string(), pod: z.string() }),
  });
  const logs = async () => {
    const selector = 'app.kubernetes.io/name=coppice-api';
    const args = ['logs', '--namespace', 'coppice-system', '--selector', selector, '--since=10m', '--tail=-1'];
    return harness.kubectl(args);
  };
  const text = await waitFor('the audit line', 20, async () => {
    const now = await logs();
    return now.includes('"event":"end"') && now.includes(harness.client.email ?? '') ? now : undefined;
  });
  const lines = text.split('\n').filter((one) => one.includes('"session":') && one.includes(harness.group));
  const found = lines.map((one) => line.parse(JSON.parse(one)));
  const mine = found.filter(({ email }) => email === harness.client.email);
  expect(new Set(mine.map(({ session: { event } }) => event))).toEqual(new Set(['start', 'end']));
  expect(mine[0]?.session).toMatchObject({ namespace: namespaceOf(id), container: expect.any(String) });
  expect(text).not.toContain(secret);
});

test('the panel has a terminal that works by keyboard and withstands a flood', async () => {
  const browser = await PanelBrowser.start(harness.connection.apiUrl);
  try {
    const { page, context } = await browser.open('/sign-in');
    await context.addCookies([{ name: 'token', value: token, url: harness.connection.apiUrl }]);
    await page.goto(`/environments/${id}?tab=shell`);
    await page.getByRole('combobox', { name: 'Service' }).selectOption('web');
    await page.getByRole('button', { name: 'Open a shell' }).press('Enter');
    const keyboard = page.getByRole('textbox', { name: /Shell in web/ });
    await page.locator('.terminal-keyboard:focus').waitFor();
    const rows = page.locator('.terminal-rows');
    await page.keyboard.type('echo $((6*7)) colour');
    await page.keyboard.press('Enter');
    await rows.getByText('42 colour').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.keyboard.type("yes $(printf '\\033[3%d;7mflood\\033[H\\033]0;title\\007\\033[6n' 1)");
    await page.keyboard.press('Enter');
    await page.waitForTimeout(3000);
    await page.keyboard.press('Control+c');
    await page.keyboard.press('Control+c');
    await page.keyboard.type('clear; reset; echo still-$((40+2))');
    await page.keyboard.press('Enter');
    await rows.getByText('still-42').waitFor({ timeout: 20_000 });
    expect(await page.title()).not.toContain('title');
    await keyboard.press('Shift+Tab');
    await page.locator('.terminal-scroller:focus').waitFor();
    await keyboard.focus();
    await page.keyboard.type('exit 3');
    await page.keyboard.press('Enter');
    await page.getByText('The shell has ended with exit code 3.').waitFor();
    await page.goto(`/environments/${fork}?tab=shell`);
    await page.getByRole('button', { name: 'Open a shell' }).click();
    await page.getByText('The code comes from a fork').waitFor();
    expect(browser.faults).toEqual([]);
  } finally {
    await browser.close();
  }
}, 120_000);

test('a shell ends when the contents are deleted', async () => {
  const remove = () => harness.client.call(z.unknown(), 'DELETE', `/api/environment/${id}`);
  const { code, err } = await endedBy(remove);
  expect([code, err]).toEqual([expect.any(Number), expect.stringMatching(/were deleted|may have been deleted|^$/)]);
  expect(code).not.toBe(0);
}, 90_000);
