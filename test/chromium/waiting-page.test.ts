// The page that a browser gets from a sleeping environment.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { BrowserContext, Page } from 'playwright-core';
import { Environments } from '../../waker/environments.ts';
import { RequestSlots } from '../../waker/request-slots.ts';
import { Proofs } from '../../waker/proof.ts';
import { WakerServer } from '../../waker/server.ts';
import { sampleEnvironment } from '../../waker/testing/sample-environment.ts';
import type { KnownEnvironment, OperatorMessage } from '../../waker-protocol/messages.ts';
import { waitFor } from '../support/wait-for.ts';
import { axeViolations, PanelBrowser } from '../end-to-end/panel-browser.ts';

const host = 'shop.localhost';
/** Where screenshots are stored, for people; nowhere if it is not set. */
const folder = process.env['COPPICE_SCREENSHOTS'];

let application: Server;
let applicationPort: number;
let waker: WakerServer;
let browser: PanelBrowser;
let report: (message: OperatorMessage) => void;
let visits: number;
let context: BrowserContext | undefined;

beforeAll(async () => {
  application = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<title>shop</title><h1>The shop</h1>');
  }).listen(0, '127.0.0.1');
  await once(application, 'listening');
  applicationPort = (application.address() as AddressInfo).port;
});
afterAll(() => {
  application.closeAllConnections();
  application.close();
});

beforeEach(async () => {
  const environments = new Environments({ lingerMs: 60_000, now: Date.now });
  report = environments.receiver();
  visits = 0;
  const slots = () => new RequestSlots({ max: 100, maxPerEnvironment: 100, maxPerGroup: 100, maxPerTenant: 100 });
  waker = new WakerServer({
    environments,
    ...{ open: slots(), held: slots(), streams: slots(), maxConnections: 100, holdMs: 20_000 },
    visits: { report: () => void visits++, open: () => () => undefined },
    proofs: new Proofs('k', Date.now),
    count: () => undefined,
    logger: { warn: () => undefined, error: () => undefined },
  });
  const port = await waker.start(0);
  browser = await PanelBrowser.start(`http://${host}:${port}`);
});
afterEach(async () => {
  await context?.close();
  await browser.close();
  await waker.stop(0);
});

function know(given: Partial<KnownEnvironment> = {}): void {
  const hosts = { [host]: [{ path: '/', service: 'web', port: applicationPort }] };
  report({ type: 'environment', environment: sampleEnvironment({ id: 'acme.shop-main', hosts, ...given }) });
}

const service = (name: string, ready: boolean) => ({ name, ready });

async function open(given: Partial<KnownEnvironment> = {}): Promise<Page> {
  know(given);
  const opened = await browser.open('/');
  ({ context } = opened);
  return opened.page;
}

async function screenshot(page: Page, name: string): Promise<void> {
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) });
}

test('wakes the environment, shows the services starting, and loads the page when all run', async () => {
  const page = await open();
  await page.getByRole('heading', { name: 'This environment is waking up' }).waitFor();
  await waitFor('the visit', 10, () => Promise.resolve(visits > 0 ? true : undefined));
  know({ mode: 'waking', services: [service('db', true), service('web', false)] });
  await page.getByText('1 of 1 others: ready').waitFor();
  expect(await page.getByRole('listitem').allInnerTexts()).toEqual(['web: starting', '1 of 1 others: ready']);
  know({ mode: 'awake', services: [service('db', true), service('web', true)], backends: { web: ['127.0.0.1'] } });
  await page.getByRole('heading', { name: 'The shop' }).waitFor();
  expect(visits).toBe(1);
  expect(browser.faults).toEqual([]);
});

test.each([
  ['light', 1280],
  ['dark', 1280],
  ['light', 360],
  ['dark', 360],
] as const)('is readable: %s, %i px', async (colorScheme, width) => {
  const page = await open({
    id: `acme.${'a-branch-with-a-long-name-'.repeat(4)}1`,
    mode: 'waking',
    services: [service('web', false), service('api', true), service('db', true)],
    hosts: {
      [host]: [
        { path: '/', service: 'web', port: applicationPort },
        { path: '/api', service: 'api', port: applicationPort },
      ],
    },
  });
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize({ width, height: 700 });
  await page.getByText('web: starting').waitFor();
  await screenshot(page, `waking-${colorScheme}-${width}`);
  expect(await axeViolations(page)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
});

test('leads to the panel by the keyboard where only members wake it, and wakes nothing', async () => {
  const page = await open({ wakeOn: 'login' });
  await page.getByRole('heading', { name: 'This environment is asleep' }).waitFor();
  await page.keyboard.press('Tab');
  const focused = await page.evaluate(
    '[document.activeElement.href, getComputedStyle(document.activeElement).outlineStyle]',
  );
  expect(focused).toEqual(['https://coppice.example/environments/a.shop', 'auto']);
  await screenshot(page, 'asleep-login');
  expect(await axeViolations(page)).toEqual([]);
  expect(visits).toBe(0);
});
