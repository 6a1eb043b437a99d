// The pages on which a user approves the sign-in of a program, with the command line that waits for it.
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { BrowserContext, Page } from 'playwright-core';
import { Client } from '../../cli/api/client.ts';
import type { UserView } from '../../cli/api/types.ts';
import { processIo, type Io } from '../../cli/io.ts';
import { browserLogin } from '../../cli/login/browser.ts';
import { deviceLogin } from '../../cli/login/device.ts';
import { axeViolations, PanelBrowser } from '../end-to-end/panel-browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { LocalPanel, PASSWORD } from './local-panel.ts';

const ada = 'ada@example.com';
let local: LocalPanel;
let browser: PanelBrowser;
let context: BrowserContext | undefined;

beforeAll(async () => {
  local = await LocalPanel.start();
  browser = await PanelBrowser.start(local.url);
  await local.addUser(ada);
}, 120_000);
afterEach(async () => {
  await context?.close();
  context = undefined;
});
afterAll(async () => {
  await browser.close();
  await local.stopApi();
});

/** Opens a page in a browser in which nobody is signed in, and signs in there. */
async function openSignedIn(path: string): Promise<Page> {
  const opened = await browser.open(path);
  ({ context } = opened);
  const { page } = opened;
  await page.getByLabel('E-mail address').fill(ada);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: /^Sign in (the command line|a device)$/ }).waitFor();
  return page;
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const whoIs = async (token: string) =>
  (await new Client({ url: local.url, token }).get<UserView>('/api/user/info')).email;

/** Returns the faults since the last call. */
const newFaults = () => browser.faults.splice(0);

/** A server in place of the command line that waits for the redirect; records the requests that reach it. */
async function listener(): Promise<{ server: Server; port: number; requests: string[] }> {
  const requests: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    requests.push(url);
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port, requests };
}

const query = (port: number | string) =>
  new URLSearchParams({ port: String(port), challenge: 'c'.repeat(43), state: 's'.repeat(32) }).toString();

test('signs in first, then approves the command line on this computer', async () => {
  let page: Page | undefined;
  const approve = async (address: string) => {
    page = await openSignedIn(address);
    await page.getByText(`asks to act as ${ada}`).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await button(page, 'Sign in').click();
    await page.getByText('You are signed in. Return to the terminal').waitFor();
  };
  let approved: Promise<void> | undefined;
  const token = await browserLogin({ ...processIo(), err: silent }, local.url, (address) => {
    approved = approve(address);
  });
  await approved;
  expect(await whoIs(token)).toBe(ada);
  // The redirect leads to the command line, and nowhere else.
  expect(newFaults()).toEqual([expect.stringMatching(/^request to http:\/\/127\.0\.0\.1:\d+$/)]);
}, 60_000);

test('gives a refused command line nothing', async () => {
  const { server, port, requests } = await listener();
  const page = await openSignedIn(`/sign-in/command-line?${query(port)}`);
  await page.getByRole('link', { name: 'Cancel' }).click();
  await page.waitForURL(`${local.url}/`);
  server.close();
  expect([requests, newFaults()]).toEqual([[], []]);
}, 60_000);

test.each([
  ['the port of a link to another computer', query('80@evil.example')],
  ['no port', 'challenge=c&state=s'],
])(
  'refuses %s',
  async (_what, search) => {
    const page = await openSignedIn(`/sign-in/command-line?${search}`);
    await button(page, 'Sign in').click();
    await page.getByRole('alert').waitFor();
    expect([new URL(page.url()).host, newFaults()]).toEqual([new URL(local.url).host, []]);
  },
  60_000,
);

const silent = { write: () => true, once: () => undefined };

/** Starts the sign-in of a device. Returns the code that the device shows, and a promise of the result. */
async function startDevice(): Promise<{ userCode: string; ended: Promise<string | Error> }> {
  let shown = '';
  const io: Io = { ...processIo(), err: { ...silent, write: (text) => (shown += text) !== '' } };
  const ended = deviceLogin(io, local.url).catch((error: unknown) =>
    error instanceof Error ? error : new Error(String(error)),
  );
  const userCode = await waitFor('the code', 10, () => Promise.resolve(/the code (\S+)/.exec(shown)?.[1]));
  return { userCode, ended };
}

/** The device and the browser are on this computer, but the browser can connect from its IPv6 address. */
const asksToAct = /network address \S*127\.0\.0\.1, which is (also|not) yours, asks to act as ada@example\.com/;

async function enter(page: Page, code: string): Promise<void> {
  await page.getByLabel('Code').fill(code);
  await button(page, 'Continue').click();
}

test('signs in first, then approves a device by the code as a person types it', async () => {
  const { userCode, ended } = await startDevice();
  // The page ignores a code in its address, so that a link cannot contain one.
  const page = await openSignedIn(`/sign-in/device?userCode=${userCode}&code=${userCode}`);
  expect(await page.getByLabel('Code').inputValue()).toBe('');
  expect(await axeViolations(page)).toEqual([]);
  await enter(page, 'BBBB-BBBB');
  await page.getByRole('alert').getByText('No device waits with this code').waitFor();
  await enter(page, userCode.toLowerCase().replace('-', ' '));
  await page.getByText(asksToAct).waitFor();
  expect(await axeViolations(page)).toEqual([]);
  await button(page, 'Sign in').click();
  await page.getByRole('status').getByText('The device is signed in').waitFor();
  expect(await whoIs(String(await ended))).toBe(ada);
  expect(newFaults()).toEqual([]);
}, 60_000);

test('denies a device, whose code is then used up', async () => {
  const { userCode, ended } = await startDevice();
  const page = await openSignedIn('/sign-in/device');
  await enter(page, userCode);
  await button(page, 'Deny').click();
  await page.getByRole('status').getByText('The device is not signed in').waitFor();
  await page.reload();
  await enter(page, userCode);
  await page.getByRole('alert').getByText('No device waits with this code').waitFor();
  expect(await ended).toMatchObject({ message: 'the sign-in was denied' });
}, 60_000);

test('approves nothing with a code that expires between check and approval', async () => {
  const { userCode, ended } = await startDevice();
  const page = await openSignedIn('/sign-in/device');
  await enter(page, userCode);
  await page.getByText(asksToAct).waitFor();
  for (const key of [...local.redis.entries.keys()])
    if (key.startsWith('coppice:device')) local.redis.entries.delete(key);
  await button(page, 'Sign in').click();
  await page.getByRole('alert').getByText('No device waits with this code').waitFor();
  expect(await ended).toMatchObject({ message: expect.stringContaining('expired') });
}, 60_000);
