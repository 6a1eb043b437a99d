// The settings page on which users write rules for automatic environments.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { BrowserContext, Page } from 'playwright-core';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import { storeListedRefs } from '../../api/testing/listed-refs.ts';
import { waitFor } from '../support/wait-for.ts';
import { axeViolations, PanelBrowser } from '../end-to-end/panel-browser.ts';
import { LocalPanel, PASSWORD } from './local-panel.ts';

const ada = 'ada@example.com';
let local: LocalPanel;
let browser: PanelBrowser;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  local = await LocalPanel.start();
  await local.addUser(ada);
  local.addGroup('acme', [ada]);
  local.addRepository('acme', 'shop');
  local.addEnvironment('acme', 'shop-main', { repository: 'shop', gitRef: { name: 'main', type: 'branch' } });
  await storeListedRefs(local, 'shop', {
    at: new Date().toISOString(),
    branches: ['dev', 'main', ...Array.from({ length: 30 }, (_, index) => `wip/${index}`)],
    tags: ['v2', 'v1'],
    pullRequests: [
      { number: 8, labels: ['preview'], isFork: true },
      { number: 7, labels: ['preview'], targetBranch: 'main', isDraft: false, isFork: false },
    ],
  });
  browser = await PanelBrowser.start(local.url);
  ({ page, context } = await browser.open('/repositories/acme.shop?tab=settings'));
  await page.getByLabel('E-mail address').fill(ada);
  await page.getByLabel('Password').fill(PASSWORD);
  await button('Sign in').click();
  await page.getByRole('heading', { name: 'Environments by rule' }).waitFor();
}, 120_000);
afterAll(async () => {
  await context.close();
  await browser.close();
  await local.stopApi();
});

const button = (name: string) => page.getByRole('button', { name, exact: true });
const field = (label: string) => page.getByRole('form', { name: 'Rule', exact: true }).getByLabel(label);
const texts = () => page.getByRole('list', { name: 'Rules' }).getByRole('listitem').allInnerTexts();
const saved = () => local.cluster.all<Repository>(REPOSITORY)[0]?.spec.sync;
const rowOf = (text: string) => page.getByRole('row', { name: text }).innerText();

const rowButtons = () => page.getByRole('list', { name: 'Rules' }).getByRole('button', { name: /^(Move|Edit|Remove)/ });

test('adds rules with the keyboard, and shows what they match before they are saved', async () => {
  await page.getByLabel('Decide by rules which refs get an environment').press('Space');
  await button('Add a rule').press('Enter');
  await page.locator('select[name="kind"]:focus').waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.type('main dev');
  await page.keyboard.press('Enter');
  await page.getByText('1 of 36 refs get a new environment, 34 match no rule.').waitFor();
  expect(await rowOf('dev')).toMatch(/dev\s+built\s+rule 1: the name matches dev/);

  await button('Add a rule').press('Enter');
  await field('Matches').selectOption('Open pull requests');
  await field('Labels').fill('preview');
  await field('Gets').selectOption('An environment with contents');
  await field('Time to live').fill('soon');
  await button('Add').click();
  await page.getByText('must be a duration, such as 12h or 7d').first().waitFor();
  await field('Time to live').fill('3d');
  await button('Add').click();
  await page.getByText('2 of 36 refs get a new environment, 33 match no rule.').waitFor();
  expect(await rowOf('pull request 7')).toMatch(/created\s+rule 2: has the label preview, comes from the repository/);
  await button('Show all 36 refs').click();
  expect(await rowOf('pull request 8')).toContain('rule 2: comes from a fork, and created requires forks: true');
  expect(await rowOf('main')).toContain('already has one');
  expect((await texts()).map((text) => text.split('\n')[0])).toEqual([
    '1. Branches main dev get a built environment',
    '2. Pull requests with a label of preview get an environment with contents for 3d',
  ]);
  expect(saved()).toBeUndefined();
}, 60_000);

test('moves a rule with the keyboard, keeps the focus, and saves', async () => {
  await button('Move rule 2 up').press('Enter');
  await waitFor('the focus', 5, async () =>
    (await page.evaluate("document.activeElement?.getAttribute('aria-label')")) === 'Move rule 1 down'
      ? true
      : undefined,
  );
  await page.getByLabel('Dry run: syncs create no environment').press('Space');
  await page.getByRole('form', { name: 'Rules' }).getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  expect(saved()).toEqual({
    rules: [
      { pullRequests: { labels: ['preview'] }, environment: 'created', ttlSeconds: 259_200 },
      { branches: ['main', 'dev'], environment: 'built' },
    ],
    dryRun: true,
  });
}, 60_000);

test('reports a bad pattern at once, and edits and removes rules', async () => {
  await button('Edit rule 2').click();
  // The open rule would get the place of another one.
  const areLocked = await Promise.all((await rowButtons().all()).map((one) => one.isDisabled()));
  expect(areLocked).toEqual([true, true, true, true]);
  await field('Patterns').fill('[a-z]*');
  await button('Apply').click();
  await page.getByText('must be a pattern of names such as release/**').waitFor();
  await button('Remove rule 2').click();
  await page.getByText('1 of 36 refs get a new environment').waitFor();
  expect(await texts()).toHaveLength(1);
}, 60_000);

test('an open rule does not block saving when refs are no longer decided by rules', async () => {
  await button('Add a rule').click();
  await page.getByText('Finish or cancel the open rule').waitFor();
  const byRules = page.getByLabel('Decide by rules which refs get an environment');
  await byRules.press('Space');
  expect(await page.getByRole('form', { name: 'Rules' }).getByRole('button', { name: 'Save' }).isEnabled()).toBe(true);
  await byRules.press('Space');
  await button('Cancel').click();
}, 60_000);

test('starts from the settings that are stored when the page is opened again', async () => {
  await page.getByRole('link', { name: 'Environments', exact: true }).click();
  const stored = saved();
  if (stored) stored.dryRun = false;
  await page.getByRole('link', { name: 'Settings', exact: true }).click();
  const dryRun = page.getByLabel('Dry run: syncs create no environment');
  await dryRun.waitFor();
  expect(await dryRun.isChecked()).toBe(false);
}, 60_000);

test.each([
  [360, 'light'],
  [360, 'dark'],
  [1280, 'dark'],
] as const)(
  'fits and is accessible at %i px, %s',
  async (width, colorScheme) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    await button('Edit rule 1').click();
    expect(await axeViolations(page)).toEqual([]);
    const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    expect(overflow).toBeLessThanOrEqual(0);
    await button('Cancel').click();
    expect(browser.faults).toEqual([]);
  },
  60_000,
);
