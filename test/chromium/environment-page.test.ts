// The parts of an environment's page that few environments have: sleep, access, overrides, approval, other repositories.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { ENVIRONMENT, type Environment, type EnvironmentStatus } from '../../crds/environment.ts';
import { GROUP } from '../../crds/group.ts';
import { axeViolations, PanelBrowser } from '../end-to-end/panel-browser.ts';
import { LocalPanel, PASSWORD } from './local-panel.ts';

const ada = 'ada@example.com';
/** A member who owns nothing. */
const bob = 'bob@example.com';
const anHourAgo = new Date(Date.now() - 3600_000).toISOString();
const commit = '0c1e8d7b6a5f4e3d2c1b0a9f8e7d6c5b4a392110';
const build = { number: 1, result: 'succeeded', commit, startedAt: anHourAgo, finishedAt: anHourAgo } as const;
const services = [
  { name: 'db', ready: true, image: 'postgres:17', ports: [5432] },
  { name: 'web', ready: true, built: true as const, ports: [3000], dependsOn: ['db'] },
];
const built: EnvironmentStatus = { state: 'built', build, deployed: build, services, conditions: [], builds: [] };
const condition = (type: string, status: 'True' | 'False', reason: string) => ({
  ...{ type, status, reason, message: '', lastTransitionTime: anHourAgo },
});

let local: LocalPanel;
let browser: PanelBrowser;
let page: Page;

beforeAll(async () => {
  local = await LocalPanel.start();
  await local.addUser(ada);
  await local.addUser(bob);
  local.addGroup('acme', [ada, bob]);
  local.cluster.change(GROUP, { name: 'acme' }, { spec: { members: [ada, bob], owners: [ada] } });
  local.addRepository('acme', 'api');
  local.addRepository('acme', 'shop', {
    access: 'members',
    sleep: {
      afterSeconds: 4 * 3600,
      wakeOn: 'login',
      workingHours: { days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '08:00', to: '18:00', timeZone: 'UTC' },
    },
  });
  add('main', 'main', { ...built, access: 'members', webURL: 'http://main.env.localhost/' });
  add('idle', 'idle', {
    ...built,
    services: services.map((service) => ({ ...service, ready: false })),
    sleep: { asleep: true, since: anHourAgo, reason: 'Idle' },
    conditions: [condition('Asleep', 'True', 'Idle'), condition('Ready', 'True', 'Asleep')],
  });
  const sleep = { asleep: true, since: anHourAgo, reason: 'OutsideWorkingHours' } as const;
  add('night', 'night', { ...built, sleep, conditions: [condition('Asleep', 'True', 'OutsideWorkingHours')] });
  add('with', 'orders', {
    ...built,
    deployed: { ...build, repositories: [{ name: 'api', branch: 'orders', commit }] },
    repositories: [
      { name: 'api', branches: ['orders', 'main'], branch: 'orders', services: ['api'] },
      { name: 'gone', branches: ['orders', 'main'], services: [] },
    ],
  });
  local.addEnvironment(
    'acme',
    'shop-9',
    { repository: 'shop', gitRef: { name: '9', type: 'pull request' }, active: true },
    {
      state: 'empty',
      fromFork: true,
      approval: { waitingCommit: commit },
      conditions: [
        condition('Trusted', 'False', 'Fork'),
        condition('Approved', 'False', 'WaitingForApproval'),
        condition('Reconciling', 'True', 'WaitingForApproval'),
      ],
    },
  );
  addChanging();
  browser = await PanelBrowser.start(local.url);
  page = await signIn(ada, '/environments/acme.shop-main?tab=settings');
}, 120_000);

afterAll(async () => {
  await browser.close();
  await local.stopApi();
});

function add(name: string, ref: string, status: EnvironmentStatus): Environment {
  const gitRef = { name: ref, type: 'branch' as const };
  return local.addEnvironment('acme', `shop-${name}`, { repository: 'shop', gitRef }, status);
}

/** Environments that fail, start, or lose their contents. */
function addChanging(): void {
  const problems = 'compose.yaml:5:9: services.web: is wrong\ncompose.yaml:8:18: must be a port';
  const invalid = { ...condition('Stalled', 'True', 'ServiceFileInvalid'), message: problems };
  const failed = { ...build, number: 3, result: 'failed', commit: `924ac50${commit.slice(7)}` } as const;
  add('failed', 'failed', { ...built, commit, build: failed, builds: [failed, build], conditions: [invalid] });
  const activation = { active: false, since: anHourAgo, specActive: true, buildPending: false } as const;
  add('leaving', 'leaving', { ...built, activation: { ...activation, reason: 'DeleteRequest' } });
  const ttl = { seconds: 60, since: anHourAgo };
  add('expired', 'expired', { state: 'empty', build, ttl, activation: { ...activation, reason: 'Expired' } });
  const startedAt = new Date().toISOString();
  add('starting', 'starting', {
    ...{ state: 'building', conditions: [condition('Reconciling', 'True', 'Building')] },
    build: { number: 1, result: 'running', commit, startedAt, rolloutStartedAt: startedAt },
    services: services.map((service) => ({ ...service, ready: false, message: 'it runs, but is not ready' })),
  });
}

async function signIn(email: string, path: string): Promise<Page> {
  const { page: opened } = await browser.open(path);
  await opened.getByLabel('E-mail address').fill(email);
  await opened.getByLabel('Password').fill(PASSWORD);
  await opened.getByRole('button', { name: 'Sign in', exact: true }).click();
  await opened.locator('.connection', { hasText: 'live' }).waitFor();
  return opened;
}

const stored = (name: string) =>
  local.cluster.all<Environment>(ENVIRONMENT).find(({ metadata }) => metadata.name === `shop-${name}`);
const form = (name: string, at = page) => at.getByRole('form', { name, exact: true });
const save = (name: string, at = page) => form(name, at).getByRole('button', { name: 'Save' });

describe('sleep', () => {
  test('is shown with why and what wakes, and ends with the button Wake', async () => {
    await page.goto('/environments/acme.shop-idle');
    await page.getByText('Members wake it with the button Wake; its address leads them here.').waitFor();
    await page.getByText(/^Asleep for 1 hour\. Its services are stopped, because nobody visited it\./).waitFor();
    expect(await page.title()).toMatch(/^☾ asleep · /);
    const rows = page.getByRole('region', { name: 'Services' }).getByRole('listitem');
    expect(await rows.locator('.service-state').allInnerTexts()).toEqual(['asleep', 'asleep']);
    expect(await page.getByRole('region', { name: 'Why it is not ready' }).count()).toBe(0);
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Wake' }).press('Enter');
    await page.getByText('Wake requested.').waitFor();
    await page.locator('.environment-title .badge', { hasText: 'asleep' }).waitFor({ state: 'detached' });
    expect(stored('idle')?.metadata.annotations).toHaveProperty(['coppice.dev/request-wake']);
  }, 60_000);

  test('is requested from the menu, by keyboard', async () => {
    await page.goto('/environments/acme.shop-main');
    await page.getByRole('button', { name: 'More actions' }).press('Enter');
    const item = page.getByRole('menuitem', { name: 'Sleep until it is woken' });
    await item.waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByText('Sleep requested.').waitFor();
    await page.getByText(/^Asleep\. Its services are being stopped\./).waitFor();
    await page.getByRole('button', { name: 'Wake' }).click();
    await page.locator('.environment-title .badge', { hasText: 'built' }).waitFor();
  }, 60_000);

  test('has settings that inherit those of the repository, or replace them', async () => {
    await page.goto('/environments/acme.shop-main?tab=settings');
    const sleep = form('Sleep');
    await sleep.getByText('Those of the repository apply: Monday to Friday, 08:00 to 18:00 (UTC).').waitFor();
    const after = sleep.getByLabel('Sleeps after this time without a visit');
    expect(await after.getAttribute('placeholder')).toBe('as in the repository: 4h');
    const wokenBy = sleep.getByLabel('Woken by');
    expect((await wokenBy.locator('option').allInnerTexts())[0]).toBe(
      'As in the repository: a member, whom its address leads here',
    );
    await after.fill('soon');
    await save('Sleep').click();
    await sleep.getByText('must be a duration, such as 30m or 4h').first().waitFor();
    await after.fill('0');
    await wokenBy.selectOption('Anybody who opens its address');
    await sleep.getByLabel('A new commit').selectOption('It wakes the environment');
    await sleep.getByLabel('Has working hours of its own').press('Space');
    await sleep.getByLabel('Friday').press('Space');
    await sleep.getByLabel('To', { exact: true }).fill('20:30');
    await sleep.getByLabel('Time zone').fill('Mars/Olympus');
    await save('Sleep').click();
    await sleep.getByRole('alert').waitFor();
    await sleep.getByLabel('Time zone').fill('Europe/Berlin');
    expect(await axeViolations(page)).toEqual([]);
    await save('Sleep').click();
    await page.getByText('Saved when the environment sleeps.').waitFor();
    expect(stored('main')?.spec.sleep).toEqual({
      afterSeconds: 0,
      wakeOn: 'visit',
      wakeOnCommit: true,
      workingHours: { days: ['mon', 'tue', 'wed', 'thu'], from: '08:00', to: '20:30', timeZone: 'Europe/Berlin' },
    });
    await page.reload();
    await after.fill('');
    await wokenBy.selectOption('');
    await sleep.getByLabel('A new commit').selectOption('');
    await sleep.getByLabel('Has working hours of its own').press('Space');
    await save('Sleep').click();
    await page.getByText('Saved when the environment sleeps.').waitFor();
    expect(stored('main')?.spec.sleep ?? {}).toEqual({});
  }, 60_000);

  test('is counted in the overview, and filters the list of a repository', async () => {
    await page.goto('/');
    await page.locator('.summary-count', { hasText: '1 asleep' }).waitFor();
    await page.goto('/repositories/acme.shop');
    await page.getByRole('button', { name: 'asleep 1' }).click();
    await page.getByText('1 of 9').waitFor();
    expect(new URL(page.url()).search).toBe('?asleep=true');
    expect(await page.locator('.environment-row').allInnerTexts()).toEqual([expect.stringContaining('night')]);
  }, 60_000);
});

describe('access', () => {
  test('is inherited, and changed by owners alone', async () => {
    const other = await signIn(bob, '/environments/acme.shop-main?tab=settings');
    const choice = other.getByLabel('Who can open the addresses');
    expect((await choice.locator('option').allInnerTexts())[0]).toBe('As in the repository: members of the group');
    await choice.selectOption('Everybody who knows the address');
    await save('Who can open it', other).click();
    await other
      .getByText('Only an owner of the group can change who can open environments. Ask one of them.')
      .waitFor();
    expect(stored('main')?.spec.access).toBeUndefined();
    await other.close();
    await page.goto('/environments/acme.shop-main?tab=settings');
    await page.getByLabel('Who can open the addresses').selectOption('Whoever knows a password');
    await page.getByLabel('Password for visitors').fill('short');
    await save('Who can open it').click();
    await form('Who can open it').getByRole('alert').waitFor();
    await page.getByLabel('Password for visitors').fill('long enough for visitors');
    await save('Who can open it').click();
    await page.getByText('Empty: keep the present one.').waitFor();
    expect(stored('main')?.spec.access).toBe('password');
  }, 60_000);

  test('is shared by a link that is shown with its end', async () => {
    await page.getByLabel('Share with whoever has a link, for').selectOption('a week');
    await page.getByRole('button', { name: 'Make a link' }).press('Enter');
    await page.getByText('.coppice/access?token=').waitFor();
    await page.getByText('It ends in 7 days.').waitFor();
    expect(await axeViolations(page)).toEqual([]);
  }, 60_000);
});

describe('what happens to the contents', () => {
  const badge = (text: string) => page.locator('.environment-title .badge', { hasText: text });
  const states = () => page.locator('.service-state').allInnerTexts();

  test('a deletion is not shown as a build', async () => {
    await page.goto('/environments/acme.shop-leaving');
    await badge('deleting').waitFor();
    expect(await page.title()).toMatch(/^− deleting · /);
    expect(await states()).toEqual(['being deleted', 'being deleted']);
    for (const name of ['Build', 'More actions']) expect(await page.getByRole('button', { name }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Open' }).count()).toBe(0);
    expect(await page.locator('.current-build').getAttribute('class')).toContain('state-empty');
  }, 60_000);

  test('the end of a time to live is named', async () => {
    await page.goto('/environments/acme.shop-expired');
    await page.getByText('Empty for 1 hour: their time to live of 1 min ended. Create sets up new ones.').waitFor();
    await page.getByRole('button', { name: 'Create' }).waitFor();
  }, 60_000);

  test('a failed build lists its problems once, and names the build that keeps running', async () => {
    await page.goto('/environments/acme.shop-failed');
    const why = page.getByRole('region', { name: 'Why it is not ready' });
    await why.getByText('Build 3 (924ac50) failed; build 1 (0c1e8d7) keeps running.').waitFor();
    const problems = why.getByRole('list', { name: 'Problems' }).getByRole('listitem');
    expect(await problems.allInnerTexts()).toEqual([
      'compose.yaml:5:9: services.web: is wrong',
      'compose.yaml:8:18: must be a port',
    ]);
    expect(await why.getByRole('region').count()).toBe(0);
    await page.getByText('runs build 1 of').waitFor();
    await page.goto('/repositories/acme.shop?health=failed');
    await page.getByText('compose.yaml:5:9: services.web: is wrong').waitFor();
    await page.getByText('and 1 more', { exact: true }).waitFor();
  }, 60_000);

  test('services that start are not failures', async () => {
    await page.goto('/environments/acme.shop-starting');
    await page.locator('.service-state').first().waitFor();
    expect(await states()).toEqual(['starting', 'waiting']);
    expect(await page.locator('.service-row.state-failed').count()).toBe(0);
  }, 60_000);
});

describe('overrides', () => {
  test('are variables and a service file, entered by keyboard', async () => {
    await page.goto('/environments/acme.shop-main?tab=settings');
    await page.getByRole('button', { name: 'Add a variable' }).press('Enter');
    await page.locator('input[name="name"]:focus').waitFor();
    await page.keyboard.type('GREETING');
    await page.keyboard.press('Tab');
    await page.keyboard.type('<b>hello</b>');
    await page.getByRole('dialog').getByLabel('Secret').press('Space');
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).press('Enter');
    await page.getByRole('row', { name: 'GREETING secret, write-only' }).waitFor();
    const file = page.getByRole('textbox', { name: 'Service file' });
    await file.fill('services:\n  web:\n   - nonsense');
    await save('Service file of the environment').click();
    await page.getByText('Saved the service file of the environment.').waitFor();
    expect(stored('main')?.spec.overrides?.serviceFile).toBeDefined();
    await page.reload();
    expect(await file.inputValue()).toContain('nonsense');
    await page.goto('/environments/acme.shop-main?tab=variables');
    await page.getByRole('row', { name: /GREETING.*environment/ }).waitFor();
  }, 60_000);

  test('are not offered for code that is not trusted', async () => {
    await page.goto('/environments/acme.shop-9?tab=settings');
    await page.getByText('so it gets no overrides, which can contain secrets').waitFor();
    expect(await page.getByRole('button', { name: 'Add a variable' }).count()).toBe(0);
    expect(await page.getByRole('textbox', { name: 'Service file' }).count()).toBe(0);
  }, 60_000);
});

test('a commit of a fork waits, and is approved by the keyboard', async () => {
  await page.goto('/environments/acme.shop-9');
  const approval = page.getByRole('region', { name: 'Approval' });
  await approval.getByText(commit).waitFor();
  expect(await axeViolations(page)).toEqual([]);
  await page.getByRole('button', { name: `Approve ${commit.slice(0, 7)}` }).press('Enter');
  await page.getByText('Approved the commit.').waitFor();
  expect(JSON.stringify(stored('9')?.metadata.annotations)).toContain(commit);
}, 60_000);

test('included repositories are named with their branch and commit, or with why there is none', async () => {
  await page.goto('/environments/acme.shop-with');
  const list = page.getByRole('list', { name: 'Included repositories' });
  await list.waitFor();
  const texts = await list.getByRole('listitem').allInnerTexts();
  expect(texts.map((text) => text.replace(/\s+/g, ' '))).toEqual([
    `with acme.api orders ${commit.slice(0, 7)}`,
    'with acme.gone no branch orders or main',
  ]);
}, 60_000);

test('a favourite is shown in the overview and in the search box, however many are more urgent', async () => {
  await page.goto('/repositories/acme.shop');
  await page.getByRole('button', { name: 'Favourite shop-with' }).click();
  for (let index = 0; index < 110; index++) add(`x${index}`, `x${index}`, { ...built, builds: [] });
  await page.goto('/');
  await page.getByRole('list', { name: 'Favourites' }).getByRole('link', { name: 'orders' }).waitFor();
  await page.keyboard.press('/');
  await page.getByRole('option', { name: /orders/ }).waitFor();
  await page.getByText('Your favourites').waitFor();
  expect(await axeViolations(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await page.waitForURL(/acme\.shop-with/);
}, 60_000);

test('links lead to the parts of the settings, also from elsewhere', async () => {
  await page.goto('/environments/acme.shop-main?tab=settings#overrides');
  await page.getByRole('heading', { name: 'Overrides' }).waitFor();
  const isInView = "document.getElementById('overrides').getBoundingClientRect().top < innerHeight";
  expect(await page.evaluate(isInView)).toBe(true);
  await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Sleep' }).press('Enter');
  expect(new URL(page.url()).hash).toBe('#sleep');
  await page.getByRole('form', { name: 'Sleep' }).waitFor();
}, 60_000);

test('a link to an environment that lost a part says what to do', async () => {
  await page.goto('/access?host=main.env.localhost&path=/');
  await page.getByText('This link is not complete. Open the address of the environment again.').waitFor();
}, 60_000);

test('an address that leads nowhere says so', async () => {
  const answer = await page.goto('/environment/acme.shop-main');
  expect(answer?.status()).toBe(404);
  await page.getByRole('heading', { name: 'No such page' }).waitFor();
  await page.getByRole('link', { name: 'Go to the overview' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
}, 60_000);

const paths = [
  '/environments/acme.shop-idle',
  '/environments/acme.shop-main?tab=settings',
  '/environments/acme.shop-9',
  '/environments/acme.shop-9?tab=settings',
  '/environments/acme.shop-with',
  '/environments/acme.shop-failed',
  '/environments/acme.shop-starting',
];

test.each([
  [360, 'light'],
  [360, 'dark'],
  [1440, 'dark'],
] as const)(
  'the pages fit and are accessible at %i px, %s',
  async (width, colorScheme) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    for (const path of paths) {
      await page.goto(path);
      await page.locator('h1').first().waitFor();
      await page.locator('.skeleton').first().waitFor({ state: 'detached' });
      expect(await axeViolations(page)).toEqual([]);
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect([path, Number(await page.evaluate(overflow)) > 0]).toEqual([path, false]);
    }
    expect(browser.faults).toEqual([]);
  },
  120_000,
);
