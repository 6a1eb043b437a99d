import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { BrowserContext, Page } from 'playwright-core';
import { z } from 'zod';
import { randomName, startHarness, type Harness } from './harness.ts';
import { axeViolations, PanelBrowser } from './panel-browser.ts';
import { testAddress } from './test-account.ts';

/** The panel as people use it: in Chromium, against the cluster. Each test continues where the previous one ended. */

const hostileName = '<img src=x onerror=alert(1)> "shop"';

let harness: Harness;
let browser: PanelBrowser;
let repository: string;
let page: Page;
let context: BrowserContext;
/** A second browser, of another member of the group. */
let other: Page;
/** Also the name of the group that her registration creates. */
const adaName = randomName('ada');
const ada = { email: testAddress(adaName), password: randomBytes(12).toString('base64url') };

beforeAll(async () => {
  harness = await startHarness('panel');
  browser = await PanelBrowser.start(harness.connection.apiUrl);
  const [main] = await Promise.all([
    harness.push('shop', 'main'),
    harness.push('shop', 'broken', { 'web/Dockerfile': 'FROM node:24-slim\nRUN echo "no such step" && exit 3\n' }),
  ]);
  repository = await harness.addRepository('shop', main);
}, 120_000);

afterAll(async () => {
  await browser.close();
  await harness.kubectl(['delete', 'groups.coppice.dev', adaName, '--ignore-not-found', '--wait=false']);
  await harness.remove();
}, 60_000);

async function signIn(at: Page, email: string, password: string): Promise<void> {
  await at.getByLabel('E-mail address').fill(email);
  await at.getByLabel('Password').fill(password);
  await at.getByRole('button', { name: 'Sign in' }).click();
}

test('a new member registers with the invitation, and sees the group', async () => {
  const schema = z.array(z.looseObject({ name: z.string(), invitation: z.string().optional() }));
  const members = await harness.client.call(schema, 'POST', `/api/group/${harness.group}/members`, { name: ada.email });
  const invitation = members.find(({ name }) => name === ada.email)?.invitation ?? '';
  ({ page, context } = await browser.open(`/register#invitation=${encodeURIComponent(invitation)}`));
  await page.getByLabel('E-mail address').fill(ada.email);
  await page.getByLabel('Password').fill(ada.password);
  expect(await axeViolations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Register' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.getByRole('link', { name: harness.group }).first().waitFor();
  await page.locator('.connection', { hasText: 'live' }).waitFor();
  expect(await axeViolations(page)).toEqual([]);
}, 60_000);

test('without a session the sign-in page is shown, and returns to the link', async () => {
  ({ page: other } = await browser.open(`/repositories/${repository}?type=branch`));
  await signIn(other, ada.email, 'a wrong password');
  await other.getByText('The e-mail address or the password is wrong.').waitFor();
  expect(await axeViolations(other)).toEqual([]);
  await signIn(other, ada.email, ada.password);
  await other.getByRole('heading', { name: 'shop' }).waitFor();
  expect(new URL(other.url()).search).toBe('?type=branch');
}, 60_000);

test('an environment is spawned by keyboard, builds live, and opens; another browser sees it without a reload', async () => {
  await page.keyboard.press('/');
  await page.keyboard.type(repository);
  await page.getByRole('option', { name: repository }).first().waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Spawn' }).first().focus();
  await page.keyboard.press('Enter');
  await page.getByRole('combobox', { name: 'Ref', exact: true }).focus();
  await page.keyboard.type('main');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/environments\//);
  await other.getByRole('link', { name: 'main', exact: true }).waitFor();
  await page.locator('.log-window .log-line').first().waitFor();
  await page.getByRole('heading', { name: /^Build 1 running$/ }).waitFor();
  await page.getByRole('heading', { name: /^Build 1 succeeded$/ }).waitFor({ timeout: 240_000 });
  await page.locator('.environment-title .badge', { hasText: 'built' }).waitFor();
  await page.locator('.log-end', { hasText: 'succeeded' }).waitFor();
  expect(await page.title()).toMatch(/^✓ built · /);
  // Shown at once in the other browser: no poll, no reload.
  await other.locator('.environment-row', { hasText: 'main' }).getByText('built').waitFor({ timeout: 5000 });
  expect(await axeViolations(page)).toEqual([]);
  expect(await axeViolations(other)).toEqual([]);
  const [opened] = await Promise.all([context.waitForEvent('page'), page.getByRole('link', { name: 'Open' }).click()]);
  await opened.waitForLoadState();
  expect(await opened.title()).toBe('The shop');
  await opened.close();
}, 300_000);

test('a broken build says why, with the output of the step, and leads to its log', async () => {
  const id = await harness.spawn(repository, 'broken', { name: hostileName });
  await other.goto(`/environments/${id}`);
  const why = other.getByRole('region', { name: 'Why it is not ready' });
  await why.waitFor({ timeout: 240_000 });
  await why.getByText('exit code: 3').first().waitFor();
  await why.getByRole('link', { name: 'Log of build 1' }).click();
  await other.locator('.log-end', { hasText: 'failed' }).waitFor();
  await other.locator('.log-window .log-number').last().click();
  await other.locator('.log-line.is-marked').waitFor();
  expect(new URL(other.url()).searchParams.get('line')).toMatch(/^\d+$/);
  expect(await axeViolations(other)).toEqual([]);
}, 300_000);

test('a hostile name is shown as text', async () => {
  await other.getByText(hostileName).first().waitFor();
  await page.goto('/');
  await page.locator('.environment-row', { hasText: 'broken' }).waitFor();
  expect(browser.faults).toEqual([]);
}, 60_000);

test('each problem of a service file is named with its line while it is typed', async () => {
  await page.goto(`/repositories/${repository}?tab=service-file`);
  await page.getByLabel('Source').selectOption('panel');
  await page
    .getByLabel('Service file', { exact: true })
    .last()
    .fill('services:\n  web:\n    image: nginx:1\n    port: 80\n');
  await page.getByText('line 4, column 5').waitFor();
  await page.getByRole('button', { name: /line 4, column 5/ }).click();
  expect(await page.locator('textarea:focus').count()).toBe(1);
  expect(await axeViolations(page)).toEqual([]);
}, 60_000);

test('an ended session keeps what was typed', async () => {
  await page.goto(`/repositories/${repository}?tab=variables`);
  await page.getByRole('button', { name: 'Add a variable' }).first().click();
  await page.getByLabel('Name', { exact: true }).fill('GREETING');
  await page.getByLabel('Value').fill('typed before the end');
  expect(await axeViolations(page)).toEqual([]);
  await context.clearCookies();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
  await page.getByLabel('Password').fill(ada.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('cell', { name: 'GREETING', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Show the value of GREETING' }).click();
  await page.getByText('typed before the end').waitFor();
  expect(await axeViolations(page)).toEqual([]);
}, 60_000);

test('axe finds nothing on the other pages', async () => {
  const paths = [
    `/repositories/${repository}?tab=settings`,
    `/groups/${harness.group}`,
    `/groups/${harness.group}?tab=members`,
    '/account',
    '/environments/none.such',
  ];
  for (const path of paths) {
    await page.goto(path);
    await page.locator('h1, .empty h2').first().waitFor();
    expect(await axeViolations(page)).toEqual([]);
  }
}, 60_000);

test('signing out ends the session', async () => {
  await page.getByRole('button', { name: `Account ${ada.email}` }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.goto('/');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
}, 60_000);

test('nothing failed in the browsers, and nothing of another site was loaded', () => {
  expect(browser.faults).toEqual([]);
});
