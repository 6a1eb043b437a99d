// What services use, measured by a real metrics-server: `npm run up -- --metrics`.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { z } from 'zod';
import { waitFor } from '../../support/wait-for.ts';
import { pushRepository } from '../../sample/push-repository.ts';
import { namespaceOf, startHarness, type Harness } from '../harness.ts';
import { axeViolations, PanelBrowser } from '../panel-browser.ts';

const usageSchema = z.object({
  measured: z.literal(true),
  at: z.int().positive(),
  services: z.array(z.object({ name: z.string(), cpu: z.number(), memory: z.number(), pods: z.int() })),
});
const listSchema = z.object({
  items: z.array(z.object({ containers: z.array(z.object({ usage: z.object({ memory: z.string() }) })) })),
});
const sum = { cpu: z.number(), memory: z.number(), pods: z.int() };
const groupUsageSchema = z.object({
  measured: z.literal(true),
  at: z.int().positive(),
  environments: z.int(),
  ...sum,
  top: z.array(z.object({ id: z.string(), name: z.string(), ...sum })),
});
const MiB = 1024 * 1024;

let harness: Harness;
let browser: PanelBrowser;
let id: string;

beforeAll(async () => {
  harness = await startHarness('usage');
  browser = await PanelBrowser.start(harness.connection.apiUrl);
  const url = `${harness.connection.gitUrl}/${harness.group}/busy.git`;
  const page = { image: 'busybox:1', command: ['httpd', '-f', '-p', '8080', '-h', '/tmp'], ports: ['8080:8080'] };
  // Computes, and keeps 32 MiB in a variable.
  const script = 'x=$(head -c 33554432 /dev/zero | tr "\\0" x); while :; do i=$((i + 1)); done';
  const busy = { image: 'busybox:1', command: ['sh', '-c', script], cpus: 0.1, mem_limit: '128m' };
  await pushRepository({ url, branch: 'main', files: { 'compose.yaml': stringify({ services: { page, busy } }) } });
  id = await harness.spawn(await harness.addRepository('busy', url), 'main');
  await harness.built(id);
}, 120_000);

afterAll(async () => {
  await browser.close();
  await harness.remove();
}, 60_000);

const readUsage = () => harness.client.send('GET', `/api/environment/${id}/usage`);

test('the API sums what the pods of each service use, for members alone', async () => {
  const usage = await waitFor('both services to be measured', 120, async () => {
    const found = usageSchema.safeParse(JSON.parse((await readUsage()).text));
    return found.success && found.data.services.length === 2 ? found.data : undefined;
  });
  const [busy, page] = usage.services;
  expect([busy?.name, page?.name]).toEqual(['busy', 'page']);
  expect(busy).toMatchObject({ pods: 1 });
  expect(busy?.cpu).toBeGreaterThan(0.03);
  expect(busy?.cpu).toBeLessThan(0.2);
  expect(page?.cpu).toBeLessThan(0.03);
  expect(busy?.memory).toBeGreaterThan(32 * MiB);
  expect(busy?.memory).toBeLessThanOrEqual(128 * MiB);
  const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${namespaceOf(id)}/pods`;
  const { items } = listSchema.parse(JSON.parse(await harness.kubectl(['get', '--raw', path])));
  expect(items).toHaveLength(2);
  const stranger = await harness.newUser();
  expect((await stranger.send('GET', `/api/environment/${id}/usage`)).status).toBe(404);
}, 150_000);

test('the sum over the group counts its environments alone, for members alone', async () => {
  const { group, client } = harness;
  const path = `/api/group/${group}/usage`;
  const own = id.slice(id.indexOf('.') + 1);
  const uid = await harness.kubectl([
    'get',
    'environment',
    own,
    '-n',
    `group-${group}`,
    '-o',
    'jsonpath={.metadata.uid}',
  ]);
  // A pod outside Coppice with the labels of a pod of the environment.
  const labels = `coppice.dev/group=${group},coppice.dev/environment-uid=${uid},coppice.dev/service=busy`;
  const fake = `fake-usage-${group}`;
  const run = ['run', fake, '-n', 'default', '--image', 'busybox:1', '--labels', labels, '--restart', 'Never'];
  await harness.kubectl([...run, '--', 'sleep', '300']);
  try {
    const metrics = `/apis/metrics.k8s.io/v1beta1/namespaces/default/pods/${fake}`;
    await waitFor('the other pod to be measured', 90, () =>
      harness.kubectl(['get', '--raw', metrics]).catch(() => undefined),
    );
    // A new measurement, not the one that the API has kept.
    const measuredAfter = Date.now() / 1000;
    const usage = await waitFor('the group to be measured', 60, async () => {
      const found = groupUsageSchema.safeParse(JSON.parse((await client.send('GET', path)).text));
      return found.success && found.data.at > measuredAfter && found.data.pods >= 2 ? found.data : undefined;
    });
    const { cpu, memory, pods } = usage;
    expect(usage).toMatchObject({ pods: 2, environments: 1 });
    expect(usage.top).toEqual([expect.objectContaining({ id, cpu, memory, pods })]);
    expect(cpu).toBeGreaterThan(0.03);
    expect(memory).toBeGreaterThan(32 * MiB);
    const stranger = await harness.newUser();
    expect((await stranger.send('GET', path)).status).toBe(404);
  } finally {
    await harness.kubectl(['delete', 'pod', fake, '-n', 'default', '--grace-period=0', '--force', '--wait=false']);
  }
}, 200_000);

test('the panel plots it, and says the newest figures', async () => {
  const { page, context } = await browser.open('/sign-in');
  const url = harness.connection.apiUrl;
  await context.addCookies([{ name: 'token', value: harness.client.token ?? '', url }]);
  await page.goto(`/environments/${id}`);
  const row = page
    .getByRole('region', { name: 'Services' })
    .getByRole('listitem')
    .filter({
      has: page.getByRole('link', { name: 'Logs of busy' }),
    });
  // A line needs two measurements, which are 15 s apart.
  await row.getByRole('img', { name: /^CPU of busy: \d+(\.\d+)? m?CPU$/ }).waitFor({ timeout: 90_000 });
  await row.getByRole('img', { name: /^Memory of busy: \d+(\.\d)? MB$/ }).waitFor();
  expect(await row.locator('.service-usage').innerText()).toMatch(/\d m?CPU\s+\d+(\.\d)? MB/);
  expect(await row.locator('.sparkline path').first().getAttribute('d')).toMatch(/^M[\d. ]+L/);
  expect(await axeViolations(page)).toEqual([]);
  await page.goto(`/groups/${harness.group}?tab=usage`);
  const usage = page.getByRole('region', { name: 'Usage' });
  await usage.getByText(/in 2 pods of 1 environment, measured /).waitFor();
  const environment = usage.getByRole('row').filter({ has: page.getByRole('link', { name: 'main' }) });
  expect(await environment.innerText()).toMatch(/\d m?CPU\s+\d+(\.\d)? MB\s+2 pods/);
  expect(await axeViolations(page)).toEqual([]);
  expect(browser.faults).toEqual([]);
}, 150_000);
