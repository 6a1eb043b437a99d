import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { BrowserContext, Page } from 'playwright-core';
import { OIDC_CLIENT, OIDC_ISSUER, OidcProvider } from '../../api/testing/oidc-provider.ts';
import { runtimeLogKeys } from '../../build-logs/keys.ts';
import { ENVIRONMENT, type EnvironmentStatus } from '../../crds/environment.ts';
import { Secret } from '../../kubernetes/resource-type.ts';
import { encodeTexts } from '../../kubernetes/secret-texts.ts';
import { axeViolations, PanelBrowser } from '../end-to-end/panel-browser.ts';
import { freePort } from '../local-server.ts';
import { LocalPanel, PASSWORD } from './local-panel.ts';

/** The panel in Chromium, with the API on a local port and a cluster in memory: states that a cluster rarely has. */

const ada = 'ada@example.com';
const hostile = '<img src=x onerror=alert(1)> \u202eevil';
const startedAt = new Date().toISOString();
const build = { number: 1, result: 'succeeded', startedAt, finishedAt: startedAt } as const;
const logLines = 100_000;
const environments = 10_000;

let local: LocalPanel;
let browser: PanelBrowser;
let provider: OidcProvider;
let page: Page;
let context: BrowserContext;

/** A page of 4 by 4 pixels. */
const image = 'iVBORw0KGgoAAAANSUhEUgAAAAQAAAAECAIAAAAmkwkpAAAAEElEQVR4nGP4z8AARwzEcQCukw/x0F8jngAAAABJRU5ErkJggg==';
const number = (Label: string, value: number) => ({
  ...{ Label, Type: 'number' as const },
  Content: Buffer.from(String(value)).toString('base64'),
});
const tester = {
  results: ({ ID }: { ID: string }) =>
    Promise.resolve([
      number('load time', ID === 'main' ? 400 : 500),
      { Label: 'screenshot', Type: 'image' as const, Content: image },
    ]),
};

beforeAll(async () => {
  const port = await freePort();
  provider = new OidcProvider(`http://localhost:${port}/api/user/oidc/callback`);
  await provider.start();
  provider.people.set('1', { email: ada, email_verified: true });
  provider.subject = '1';
  const oidc = { issuer: new URL(OIDC_ISSUER), ...OIDC_CLIENT, landingPage: '/' };
  const config = { administrators: [ada], oidc };
  local = await LocalPanel.start({ tester, fetch: provider.fetch, config }, port);
  browser = await PanelBrowser.start(local.url);
  await local.addUser(ada);
  local.addGroup('acme', [ada]);
  local.addGroup('hostile', [ada], hostile);
  local.addRepository('acme', 'shop');
  local.addRepository('acme', 'many');
  local.addRepository('hostile', 'a-name-of-forty-characters-without-a-dot', { displayName: hostile });
  addTested('main', 'main', [400]);
  addTested('feature', 'feature/orders', [300, 450, 500]);
  add('shop-12', 'shop', { name: '12', type: 'pull request' }, { state: 'built', build });
  add('shop-v1', 'shop', { name: 'v1.0.0', type: 'tag' }, { state: 'empty' });
  for (let index = 0; index < environments; index++) {
    add(`many-${index}`, 'many', { name: `ticket-${index}`, type: 'branch' }, { state: 'built', build });
  }
  await signIn('/');
}, 120_000);

afterAll(async () => {
  await browser.close();
  await local.stopApi();
  await provider.stop();
});

function add(
  name: string,
  repository: string,
  gitRef: { name: string; type: 'branch' | 'tag' | 'pull request' },
  status: EnvironmentStatus,
) {
  return local.addEnvironment('acme', name, { repository, gitRef }, status);
}

/** Adds an environment with a test whose results the tester has, and its load times of builds 1, 2, … */
function addTested(id: string, ref: string, loadTimes: number[]): void {
  const run = { name: 'looks', type: 'page', id, outcome: 'passed' as const, finishedAt: startedAt };
  const tests = { build: 1, since: startedAt, runs: [run] };
  const status = { state: 'built' as const, build, deployed: { ...build, tests: 1 }, tests };
  const history = loadTimes.map((value, index) => ({
    ...{ build: index + 1, finishedAt: startedAt },
    tests: [{ name: 'looks', outcome: index === 1 ? 'failed' : 'passed', numbers: [['load time', value]] }],
  }));
  const { metadata } = add(`shop-${id}`, 'shop', { name: ref, type: 'branch' }, status);
  local.cluster.add(Secret, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: `tests-shop-${id}`,
      namespace: 'group-acme',
      ownerReferences: [
        { apiVersion: 'coppice.dev/v1alpha1', kind: 'Environment', name: metadata.name, uid: metadata.uid ?? '' },
      ],
    },
    data: encodeTexts({
      'runs.json': JSON.stringify({ build: 1, runs: { looks: { ID: id, Secret: 's' } } }),
      'history.json': JSON.stringify(history.toReversed()),
    }),
  });
}

async function signIn(path: string): Promise<void> {
  ({ page, context } = await browser.open(path));
  await page.getByLabel('E-mail address').fill(ada);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.locator('.connection', { hasText: 'live' }).waitFor();
}

function uidOf(name: string): string {
  const found = local.cluster.all(ENVIRONMENT).find(({ metadata }) => metadata.name === name);
  return found?.metadata.uid ?? '';
}

test('a log of 100,000 lines is shown to its end, searched, and has colours but no markup', async () => {
  const line = (seq: number, text: string) => ({ seq, time: startedAt, service: 'web', stage: 'build', line: text });
  const logId = `${uidOf('shop-12')}/1`;
  for (let first = 1; first <= logLines; first += 1000) {
    local.logReader.write(
      logId,
      ...Array.from({ length: 1000 }, (_none, index) => line(first + index, `line ${first + index}`)),
    );
  }
  local.logReader.write(
    logId,
    line(logLines + 1, '\u001b[31mred\u001b[0m <b onclick=alert(1)>bold</b> \u202elanimret\u001b[2K end'),
    { seq: logLines + 2, time: startedAt, end: { result: 'succeeded', message: '' } },
  );
  local.logReader.end(logId);
  await page.goto('/environments/acme.shop-12');
  await page.locator('.log-end', { hasText: 'succeeded' }).waitFor({ timeout: 150_000 });
  const last = page.locator('.log-window .log-line').last();
  await last.getByText('red <b onclick=alert(1)>bold</b> lanimret end').waitFor();
  expect(await last.locator('.ansi-1').textContent()).toBe('red');
  expect(await page.locator('.log-line').count()).toBeLessThan(120);
  await page.getByLabel('Search in the log').fill('line 4242');
  await page.keyboard.press('Enter');
  await page.locator('.log-line mark', { hasText: 'line 4242' }).first().waitFor();
  await page.goto('/environments/acme.shop-12?line=77777');
  await page.locator('.log-line.is-marked', { hasText: 'line 77777' }).waitFor({ timeout: 150_000 });
}, 360_000);

test('10,000 environments are listed in pages, and found by their ref', async () => {
  await page.goto('/repositories/acme.many');
  await page.getByText('10000 of 10000').waitFor();
  expect(await page.locator('.environment-row').count()).toBe(50);
  await page.getByRole('button', { name: 'Show more' }).click();
  await page.locator('.environment-row').nth(249).waitFor();
  expect(await page.locator('.environment-row').count()).toBe(250);
  await page.getByLabel('Ref, name or commit').fill('ticket-9876');
  await page.getByText('1 of 10000').waitFor();
  await page.getByRole('link', { name: 'ticket-9876' }).waitFor();
  expect(new URL(page.url()).search).toBe('?text=ticket-9876');
}, 60_000);

test('a page that is open while the API restarts says so, and shows what has changed', async () => {
  await page.goto('/repositories/acme.shop');
  const row = page.locator('.environment-row', { hasText: 'v1.0.0' });
  await row.getByText('empty').waitFor();
  await local.stopApi();
  await page.locator('.connection', { hasText: /reconnecting|stale since/ }).waitFor();
  local.cluster.change(ENVIRONMENT, { namespace: 'group-acme', name: 'shop-v1' }, { status: { state: 'created' } });
  await local.startApi();
  await page.locator('.connection', { hasText: 'live' }).waitFor();
  await row.getByText('created').waitFor();
}, 60_000);

test('the log of a service continues after a restart of the API', async () => {
  const keys = runtimeLogKeys(uidOf('shop-12'), 'web');
  const line = (seq: number, text: string) => ({ seq, time: startedAt, service: 'web', stage: '', line: text });
  const services = [{ name: 'web', ready: true }];
  local.cluster.change(ENVIRONMENT, { namespace: 'group-acme', name: 'shop-12' }, { status: { services } });
  local.logReader.writeTo(keys, line(1, 'before'));
  await page.goto('/environments/acme.shop-12?log=web');
  await page.locator('.log-line', { hasText: 'before' }).waitFor();
  await local.stopApi();
  await page.getByText('Reconnecting; the log continues').waitFor();
  await local.startApi();
  local.logReader.writeTo(keys, line(2, 'after'));
  await page.locator('.log-line', { hasText: 'after' }).waitFor();
  expect(await page.locator('.log-window .log-text').allTextContents()).toEqual(['before', 'after']);
}, 60_000);

test('lines of a service log have short numbers, and links with their seq', async () => {
  const first = 179_549_188_289_001;
  const keys = runtimeLogKeys(uidOf('shop-feature'), 'web');
  for (const [index, text] of ['first', 'second'].entries()) {
    const line = { seq: first + index, time: startedAt, service: 'web', stage: '', line: text };
    local.logReader.writeTo(keys, line);
  }
  const services = [{ name: 'web', ready: true }];
  local.cluster.change(ENVIRONMENT, { namespace: 'group-acme', name: 'shop-feature' }, { status: { services } });
  await page.setViewportSize({ width: 1280, height: 400 });
  await page.goto('/environments/acme.shop-feature?time=1');
  const bottom = "document.querySelector('.log-scroller').getBoundingClientRect().bottom";
  await page.locator('.log-scroller').waitFor();
  expect(Number(await page.evaluate(bottom))).toBeGreaterThan(400);
  await page.getByRole('link', { name: 'Logs of web' }).click();
  const second = page.locator('.log-line', { hasText: 'second' });
  const number = second.getByRole('link', { name: 'Line 2' });
  await number.waitFor();
  expect(await page.evaluate("document.activeElement?.getAttribute('aria-label')")).toBe('Log lines');
  expect(Number(await page.evaluate(bottom))).toBeLessThanOrEqual(400);
  expect(await number.innerText()).toBe('2');
  const isFitting = "[...document.querySelectorAll('.log-number')].every((one) => one.scrollWidth <= one.clientWidth)";
  expect(await page.evaluate(isFitting)).toBe(true);
  await number.click();
  expect(new URL(page.url()).searchParams.get('line')).toBe(String(first + 1));
  await page.reload();
  await page.locator('.log-line.is-marked', { hasText: 'second' }).waitFor();
  await page.setViewportSize({ width: 1280, height: 720 });
}, 60_000);

test('a service file with errors is saved only after a confirmation', async () => {
  await page.goto('/repositories/acme.shop?tab=service-file');
  await page.getByLabel('Source').selectOption('This text alone');
  const text = page.getByRole('textbox', { name: 'Service file' });
  await text.fill('services: { web: { imag: "nginx:1" } }');
  await page.locator('.problem').first().waitFor();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(/The check found \d+ errors?\. Builds fail/).waitFor();
  expect(await axeViolations(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByLabel('Source').selectOption('File of the repository');
  await page.getByText('Each build reads the first of').waitFor();
  expect(await text.count()).toBe(0);
}, 60_000);

test('a refused role change is not shown, and variables of Coppice are', async () => {
  await page.goto('/groups/acme?tab=members');
  const role = page.getByLabel(`Role of ${ada}`);
  await role.selectOption('member');
  await page.getByRole('alert').waitFor();
  expect(await role.inputValue()).toBe('owner');
  await page.goto('/environments/acme.shop-feature?tab=variables');
  const row = page.getByRole('row', { name: /COPPICE_GIT_REF_NAME|COPPICE_/ }).first();
  await row.getByRole('button', { name: /^Copy the value of COPPICE_/ }).waitFor();
}, 60_000);

test('a ref is searched among all of the repository, and chosen by keyboard', async () => {
  await page.goto('/repositories/acme.shop?spawn=1');
  const ref = page.getByRole('combobox', { name: 'Ref', exact: true });
  const type = page.getByRole('dialog').getByLabel('Type of ref');
  await ref.fill('v1');
  await page.getByRole('option', { name: /v1\.0\.0/ }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  expect(await ref.inputValue()).toBe('v1.0.0');
  expect(await type.inputValue()).toBe('tag');
  await ref.fill('#12');
  await page.getByRole('option', { name: /#12/ }).waitFor();
  await page.getByText('This ref has the environment').waitFor();
  expect(await type.inputValue()).toBe('pull request');
  expect(await axeViolations(page)).toEqual([]);
}, 60_000);

test('results of tests are shown beside those of the base branch', async () => {
  await page.goto('/environments/acme.shop-feature?tab=tests');
  await page.getByText('+25 %').waitFor();
  await page.getByRole('img', { name: 'looks: screenshot of main' }).waitFor();
  await page.getByRole('img', { name: 'looks: screenshot', exact: true }).waitFor();
  expect(await axeViolations(page)).toEqual([]);
  await page.getByLabel('Compare with').selectOption('none');
  await page.getByText('+25 %').waitFor({ state: 'detached' });
}, 60_000);

test('numbers of tests are plotted over builds, and read by keyboard, by pointer and in a table', async () => {
  await page.goto('/environments/acme.shop-feature?tab=tests&with=none');
  const plot = page.getByRole('slider', { name: 'load time of looks over builds' });
  const isRead = (text: string) => page.locator(`input[aria-valuetext="${text}"]`).waitFor();
  await isRead('build 3: 500');
  await plot.focus();
  await page.keyboard.press('ArrowLeft');
  await isRead('build 2: 450, failed');
  await page.locator('figcaption', { hasText: '450 build 2, failed' }).waitFor();
  await page.keyboard.press('Home');
  await isRead('build 1: 300');
  await page.locator('.plot-area').hover();
  await isRead('build 2: 450, failed');
  await page.locator('h1').hover();
  await isRead('build 3: 500');
  await page.locator('summary', { hasText: 'Values of looks' }).click();
  const rows = page.getByRole('region', { name: 'Values of looks by build' }).getByRole('row');
  expect(await rows.allInnerTexts()).toEqual([
    'Build\tOutcome\tload time',
    '3\tpassed\t500',
    '2\tfailed\t450',
    '1\tpassed\t300',
  ]);
  expect(await axeViolations(page)).toEqual([]);
  await page.goto('/environments/acme.shop-main?tab=tests');
  await page.getByText('Numbers are plotted as soon as the tests of two builds have ended.').waitFor();
  expect(await page.getByRole('slider').count()).toBe(0);
}, 60_000);

test('a login in another browser is listed, and ends there at once', async () => {
  const other = await browser.open('/sign-in');
  await other.page.getByLabel('E-mail address').fill(ada);
  await other.page.getByLabel('Password').fill(PASSWORD);
  await other.page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await other.page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.goto('/account');
  await page.getByText('(this one)').waitFor();
  expect(await axeViolations(page)).toEqual([]);
  await page
    .getByRole('button', { name: /^End the login of/ })
    .first()
    .click();
  await page.getByRole('dialog').getByRole('button', { name: 'End the login' }).click();
  await page.getByText('Ended the login.').waitFor();
  await other.page.goto('/account');
  await other.page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await other.context.close();
}, 60_000);

test('a provider of OpenID Connect signs in, and returns to the link', async () => {
  const other = await browser.open('about:blank');
  // The provider is real; where browsers would find it, its answer is a page with the link back.
  await other.context.route(`${OIDC_ISSUER}/**`, async (route) => {
    const back = await provider.visit(route.request().url());
    await route.fulfill({ contentType: 'text/html', body: `<a href="${back.href.replaceAll('&', '&amp;')}">Back</a>` });
  });
  await other.page.goto('/repositories/acme.shop?type=branch');
  await other.page.getByRole('link', { name: 'Sign in with OpenID Connect' }).click();
  await other.page.getByRole('link', { name: 'Back' }).click();
  await other.page.getByRole('heading', { name: 'shop' }).waitFor();
  expect(new URL(other.page.url()).search).toBe('?type=branch');
  await other.context.close();
}, 60_000);

const paths = [
  '/',
  '/administration',
  '/account',
  '/groups/acme',
  '/groups/acme?tab=members',
  '/groups/hostile',
  '/repositories/acme.shop?tab=variables',
  '/repositories/acme.shop?tab=settings',
  '/repositories/hostile.a-name-of-forty-characters-without-a-dot',
  '/environments/acme.shop-feature',
  '/environments/acme.shop-feature?tab=tests',
];

test('every page fits a screen of 360 pixels, in both themes, and axe finds nothing', async () => {
  await page.setViewportSize({ width: 360, height: 780 });
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const path of paths) {
      await page.goto(path);
      await page.locator('h1').first().waitFor();
      await page.locator('.skeleton').first().waitFor({ state: 'detached' });
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect([path, Number(await page.evaluate(overflow)) > 0]).toEqual([path, false]);
      expect(await axeViolations(page)).toEqual([]);
    }
  }
}, 180_000);

test('nothing failed in the browsers, and nothing of another site was loaded', () => {
  // While the API restarts, the browser reports that it cannot be reached.
  const expected = new RegExp(`^request to ${OIDC_ISSUER}|ERR_CONNECTION_REFUSED`);
  expect(browser.faults.filter((fault) => !expected.test(fault))).toEqual([]);
  expect(context.pages()).toHaveLength(1);
});
