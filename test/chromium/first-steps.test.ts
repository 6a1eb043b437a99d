// What somebody sees who is new: an invitation, an account without repositories, a first repository.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { GROUP, type Group } from '../../crds/group.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import { axeViolations, PanelBrowser } from '../end-to-end/panel-browser.ts';
import { LocalPanel, PASSWORD } from './local-panel.ts';

const ada = 'ada@example.com';
const bob = 'bob@example.com';

let local: LocalPanel;
let browser: PanelBrowser;
let page: Page;
let link: string;

beforeAll(async () => {
  local = await LocalPanel.start();
  await local.addUser(ada);
  local.addGroup('acme', [ada], 'Beech Team');
  browser = await PanelBrowser.start(local.url);
  ({ page } = await browser.open('/'));
  await signIn(page, ada);
}, 120_000);

afterAll(async () => {
  await browser.close();
  await local.stopApi();
});

const button = (name: string, at = page) => at.getByRole('button', { name, exact: true });
const groupNamed = (name: string) => local.cluster.all<Group>(GROUP).find(({ metadata }) => metadata.name === name);

async function signIn(at: Page, email: string): Promise<void> {
  await at.getByLabel('E-mail address').fill(email);
  await at.getByLabel('Password').fill(PASSWORD);
  await button('Sign in', at).click();
}

test('the overview of an account without repositories leads to the first one', async () => {
  await page.getByRole('heading', { name: 'Add your first repository' }).waitFor();
  expect(await page.locator('.summary').count()).toBe(0);
  expect(await axeViolations(page)).toEqual([]);
  await page.getByRole('link', { name: 'Add a repository to Beech Team' }).press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('!!!');
  await dialog.getByLabel('Address').fill('https://git.example/acme/shop.git');
  await button('Add').click();
  // Each problem is shown once, at its field, which has the focus.
  await dialog.getByText('Must contain a letter or a digit.').waitFor();
  await dialog.locator('input[name="name"]:focus').waitFor();
  expect(await dialog.getByText(/in details|body is not valid/).count()).toBe(0);
  expect(await axeViolations(page)).toEqual([]);
  await dialog.getByLabel('Name', { exact: true }).fill('shop');
  await button('Add').click();
  await page.getByRole('heading', { name: 'shop' }).waitFor();
  const [repository] = local.cluster.all<Repository>(REPOSITORY);
  expect(repository?.metadata.annotations).toHaveProperty(['coppice.dev/request-sync']);
}, 60_000);

test('an invited member is marked, and the page of the link says who invites to what', async () => {
  await page.goto('/groups/acme?tab=members');
  await page.getByLabel('E-mail address').fill(bob);
  await button('Add').click();
  link = await page.locator('.note code').innerText();
  const row = page.getByRole('row', { name: bob });
  await row.getByText('invited', { exact: true }).waitFor();
  await row.getByText(/the link ends in (6|7) days/).waitFor();
  expect(await axeViolations(page)).toEqual([]);
  const { page: others } = await browser.open(link);
  await others.getByText('A member invites you to the group acme Beech Team.').waitFor();
  expect(await others.locator('q bdi').innerText()).toBe('Beech Team');
  await others.getByText('Register with the invited address, b…@example.com.').waitFor();
  expect(await others.getByLabel('E-mail address').inputValue()).toBe('');
  expect(await others.getByLabel('Link of an invitation').count()).toBe(0);
  expect(await axeViolations(others)).toEqual([]);
  await others.getByLabel('E-mail address').fill(bob);
  await others.getByLabel('Password').fill('short');
  await button('Register and accept', others).click();
  await others.getByText('Must have 10 to 200 characters.').waitFor();
  await others.getByLabel('Password').fill(PASSWORD);
  await button('Register and accept', others).click();
  await others.getByRole('link', { name: 'Beech Team' }).first().waitFor();
  await others.close();
  await page.reload();
  await row.waitFor();
  expect(await row.getByText('invited', { exact: true }).count()).toBe(0);
}, 60_000);

test('a link that is opened while signed in is accepted on a page of its own', async () => {
  await page.goto(link);
  await page.getByText('The invitation is not valid').waitFor();
  expect(await button('Accept').count()).toBe(0);
  await local.addUser('cleo@example.com');
  await page.goto('/groups/acme?tab=members');
  await page.getByLabel('E-mail address').fill('cleo@example.com');
  await button('Add').click();
  const own = await page.locator('.note code').innerText();
  await page.goto(own);
  await page.getByText('It is for c…@example.com, and you are signed in as ada@example.com.').waitFor();
  expect(await button('Accept').count()).toBe(0);
  const { page: others } = await browser.open('/sign-in');
  const asked: string[] = [];
  others.on('request', (request) => asked.push(`${request.url()} ${request.headers()['referer'] ?? ''}`));
  await others.goto(own.replace('/register#', '/invitation#'));
  await others.getByRole('link', { name: 'Register' }).click();
  await others.getByText('A member invites you to the group acme Beech Team.').waitFor();
  await others.getByRole('link', { name: 'Sign in' }).click();
  await signIn(others, 'cleo@example.com');
  await others.getByText('ada@example.com invites you to the group acme Beech Team.').waitFor();
  expect(await axeViolations(others)).toEqual([]);
  await button('Accept', others).press('Enter');
  await others.getByText('Accepted the invitation.').waitFor();
  await others.getByRole('heading', { name: 'Beech Team' }).waitFor();
  await others.reload();
  expect(asked.length).toBeGreaterThan(5);
  expect(asked.filter((one) => one.includes('invitation=') || one.includes('invitation%3D'))).toEqual([]);
  await others.close();
}, 60_000);

test("an administrator's invitation is not called one before it is checked, and can be replaced", async () => {
  const { page: others } = await browser.open(`/register?invitation=a.${'A'.repeat(43)}`);
  await others.getByText('it is checked when you accept').waitFor();
  // The link is one of an earlier version.
  expect(await others.getByLabel('Link of an invitation').inputValue()).toBe(`a.${'A'.repeat(43)}`);
  await others.waitForURL(`**/register#invitation=a.${'A'.repeat(43)}`);
  await others.evaluate(`location.hash = 'invitation=a.${'B'.repeat(43)}'`);
  // A second link in the same tab changes only the fragment.
  await others.waitForFunction("document.querySelector('[name=invitation]').value.startsWith('a.B')");
  await others.close();
});

test('a group is deleted only after its id is typed', async () => {
  await page.goto('/groups/acme?tab=settings&dialog=delete-group');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Deletes Beech Team with 1 repository and 0 environments').waitFor();
  const confirm = dialog.getByRole('button', { name: 'Delete the group' });
  expect(await confirm.isDisabled()).toBe(true);
  await dialog.getByLabel('Type acme to confirm').fill('acme');
  expect(await axeViolations(page)).toEqual([]);
  await confirm.click();
  await page.getByText('Deletion requested.').waitFor();
  expect(groupNamed('acme')?.metadata.deletionTimestamp ?? 'gone').toBeDefined();
  expect(browser.faults).toEqual([]);
}, 60_000);
