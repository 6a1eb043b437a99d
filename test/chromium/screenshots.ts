// Takes the screenshots of the panel in docs/, with a cluster in memory: `npm run screenshots`.
import { join } from 'node:path';
import type { Environment, EnvironmentStatus } from '../../crds/environment.ts';
import { REPOSITORY_ROOT } from '../support/paths.ts';
import { runMain } from '../support/progress.ts';
import { PanelBrowser } from '../end-to-end/panel-browser.ts';
import { LocalPanel, PASSWORD } from './local-panel.ts';

const ada = 'ada@example.com';
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

type Build = NonNullable<EnvironmentStatus['build']> & { finishedAt: string };

/** Returns a finished build that ended some minutes ago. */
function buildOf(number: number, minutes: number, subject: string, more: Partial<Build> = {}): Build {
  const ended = minutes - 0.2 * number;
  return {
    ...{ number, subject, result: 'succeeded', trigger: 'commit', author: 'Ada Lovelace' },
    commit: `${number}c1e8d7b6a5f4e3d2c1b0a9f8e7d6c5b4a3921`,
    startedAt: minutesAgo(minutes),
    rolloutStartedAt: minutesAgo(minutes - 0.6 * (minutes - ended)),
    finishedAt: minutesAgo(ended),
    sizeBytes: 182_000_000,
    ...more,
  };
}

const condition = (type: string, status: 'True' | 'False', reason: string, message: string, minutes: number) => ({
  ...{ type, status, reason, message, lastTransitionTime: minutesAgo(minutes) },
});

const services = [
  { name: 'db', ready: true, image: 'postgres:17.2-alpine', ports: [5432] },
  { name: 'api', ready: true, built: true as const, ports: [8080], dependsOn: ['db'] },
  { name: 'web', ready: true, built: true as const, ports: [3000], dependsOn: ['api'] },
];

function built(host: string, build: Build): EnvironmentStatus {
  return {
    ...{ state: 'built', webURL: `http://${host}.bakery.env.example.com`, commit: build.commit, services },
    ...{ build, deployed: build, builds: [], conditions: [] },
  };
}

const output = `image of web failed: process "npm run build" did not complete successfully: exit code: 1
> web@1.0.0 build
> vite build

src/opening-hours.ts(14,9): error TS2345: Argument of type 'string' is not assignable to parameter of type 'number'.`;

function addAll(local: LocalPanel): Environment {
  local.addGroup('bakery', [ada]);
  local.addRepository('bakery', 'shop');
  const add = (
    name: string,
    gitRef: Environment['spec']['gitRef'],
    status: EnvironmentStatus,
    more: Partial<Environment['spec']> = {},
  ) => local.addEnvironment('bakery', `shop-${name}`, { repository: 'shop', gitRef, ...more }, status);
  const branch = (name: string) => ({ name, type: 'branch' as const });
  const before = [
    buildOf(4, 90, 'Show the opening hours in the footer'),
    buildOf(3, 300, 'Add the order form'),
    buildOf(2, 420, 'Try another base image', { result: 'failed', rolloutStartedAt: undefined }),
    buildOf(1, 700, 'Start the shop'),
  ];
  const failed = buildOf(5, 4, 'Read opening hours from the API', {
    ...{ result: 'failed', message: output, rolloutStartedAt: undefined },
  });
  const failures = [
    condition('Stalled', 'True', 'BuildFailed', output, 3),
    condition('Built', 'False', 'BuildFailed', output, 3),
  ];
  const host = 'fix-opening-hours.shop';
  const [deployed = failed] = before;
  const broken = add('fix', branch('fix/opening-hours'), {
    ...built(host, deployed),
    ...{ build: failed, builds: [failed, ...before], conditions: failures },
  });
  add('main', branch('main'), built('main.shop', buildOf(12, 35, 'Bake rye bread on Fridays')));
  add('form', branch('feature/order-form'), built('feature-order-form.shop', buildOf(3, 120, 'Send orders by mail')));
  add('127', { name: '127', type: 'pull request' }, built('127.shop', buildOf(2, 55, 'Translate the menu')));
  add('vite', branch('dependabot/vite-7'), {
    state: 'building',
    build: { number: 1, result: 'running', startedAt: minutesAgo(0.7), subject: 'Bump vite to 7' },
    activation: { active: true, since: minutesAgo(1), reason: 'Spec', specActive: true, buildPending: false },
    conditions: [condition('Reconciling', 'True', 'Building', 'building 2 images', 1)],
  });
  add('v1', { name: 'v1.0.0', type: 'tag' }, { state: 'empty' }, { active: false });
  return broken;
}

await runMain(async () => {
  const local = await LocalPanel.start();
  await local.addUser(ada);
  const broken = addAll(local);
  const browser = await PanelBrowser.start(local.url);
  try {
    const { page } = await browser.open('/sign-in');
    await page.getByLabel('E-mail address').fill(ada);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const shoot = async (path: string, name: string, ready: string, height: number) => {
      await page.setViewportSize({ width: 1040, height });
      await page.goto(path);
      await page.locator(ready).first().waitFor();
      await page.locator('.connection', { hasText: 'live' }).waitFor();
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        const file = join(REPOSITORY_ROOT, 'docs', `${name}-${colorScheme}.png`);
        await page.screenshot({ path: file, animations: 'disabled' });
      }
    };
    await shoot('/repositories/bakery.shop', 'panel-repository', '.environment-row', 620);
    await shoot(`/environments/bakery.${broken.metadata.name}`, 'panel-environment', '.previous-build', 820);
  } finally {
    await browser.close();
    await local.stopApi();
  }
});
