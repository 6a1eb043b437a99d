// Takes the screenshots of the panel in docs/, on the local cluster: `npm run screenshots`.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { REPOSITORY_ROOT } from '../cluster/paths.ts';
import { runMain } from '../cluster/progress.ts';
import { RestClient } from '../client/rest-client.ts';
import { pushRepository, SAMPLE_REPOSITORY } from '../sample/push-repository.ts';
import { randomName, startHarness } from './harness.ts';
import { PanelBrowser } from './panel-browser.ts';

const group = 'bakery';
const idSchema = z.looseObject({ id: z.string() });
const branches: Record<string, Record<string, string>> = {
  main: {},
  'feature/order-form': { 'web/title.txt': 'The bakery, with orders\n' },
  'fix/opening-hours': { 'web/Dockerfile': 'FROM node:24-slim\nRUN echo "no such file: hours.json" && exit 1\n' },
};

await runMain(async () => {
  const harness = await startHarness('shots');
  const { apiUrl, gitUrl } = harness.connection;
  const browser = await PanelBrowser.start(apiUrl);
  try {
    const account = { email: `${randomName('ada')}@example.com`, password: randomBytes(12).toString('base64url') };
    const client = new RestClient(apiUrl);
    await client.registerAndLogin(account.email, account.password);
    await harness.addGroup(group);
    await harness.client.call(z.unknown(), 'POST', `/api/group/${group}/members`, { name: account.email });
    const url = `${gitUrl}/${harness.group}/shop.git`;
    for (const [branch, files] of Object.entries(branches)) {
      await pushRepository({ url, branch, from: SAMPLE_REPOSITORY, files });
    }
    const repository = { name: 'shop', type: 'generic', params: { origin: url } };
    const { id } = await harness.client.call(idSchema, 'POST', `/api/group/${group}`, repository);
    const spawned = await Promise.all(
      Object.keys(branches).map((name) =>
        harness.client.call(idSchema, 'POST', `/api/repository/${id}/spawn`, {
          gitRef: { name, type: 'branch' },
          ifExists: 'reuse',
        }),
      ),
    );
    for (const one of spawned) {
      await harness.client.waitForEnvironment(
        one.id,
        ({ build }) => build !== undefined && !/pending|running/.test(build.result),
        400,
      );
    }
    const { page } = await browser.open('/sign-in');
    await page.getByLabel('E-mail address').fill(account.email);
    await page.getByLabel('Password').fill(account.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const shoot = async (path: string, name: string, ready: string, height: number) => {
      await page.setViewportSize({ width: 1040, height });
      await page.goto(path);
      await page.locator(ready).first().waitFor();
      await page.evaluate('document.fonts.ready');
      await page.screenshot({ path: join(REPOSITORY_ROOT, 'docs', name), animations: 'disabled' });
    };
    await shoot(`/repositories/${id}`, 'panel-repository.png', '.environment-row', 440);
    const failed = spawned.at(-1)?.id ?? '';
    await shoot(`/environments/${failed}`, 'panel-environment.png', '.why-output', 760);
  } finally {
    await browser.close();
    await harness.remove();
  }
});
