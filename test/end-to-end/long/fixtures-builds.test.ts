import { afterAll, beforeAll, expect } from '@jest/globals';
import { z } from 'zod';
import { send } from '../../client/local-http.ts';
import { buildContainers, builtFixture, fixtureText, linesByService, pushFixture } from '../fixtures.ts';
import { pageWith, startHarness, type Harness } from '../harness.ts';
import { testsSideBySide } from '../side-by-side.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness('builds');
}, 60_000);

afterAll(() => harness.remove(), 60_000);

const unchanged = [expect.stringContaining('unchanged')];

testsSideBySide(
  {
    'builds nothing for a second environment of a commit, and one image if a commit changes one of three services':
      buildsWhatChanged,
    'seeds a new volume, keeps it in a build, and seeds it again in a rebuild': seedsNewVolumes,
  },
  900_000,
);

async function buildsWhatChanged(): Promise<void> {
  const repository = await harness.addRepository('shop', await pushFixture(harness, 'monorepo', 'main'));
  const first = await harness.spawn(repository, 'main');
  const { weburl, aliases } = await builtFixture(harness, first);
  await pageWith(weburl, '{"title":"Tools for the garden","products":["Spade: 34.50","Billhook: 62.00"]}');
  await pageWith(`${weburl}products`, '"name":"Billhook"'); // another service, by its path
  await pageWith(`${aliases['catalog'] ?? ''}products`, '"name":"Billhook"'); // the same service, by its alias
  expect(await buildContainers(harness, first)).toEqual(['build-catalog', 'build-pricing', 'build-storefront']);

  const second = await harness.spawn(repository, 'main', { name: 'Second' });
  const { weburl: secondUrl } = await builtFixture(harness, second);
  await pageWith(secondUrl, 'Billhook: 62.00');
  expect(await linesByService(harness, second)).toMatchObject({
    catalog: unchanged,
    pricing: unchanged,
    storefront: unchanged,
  });
  expect(await buildContainers(harness, second)).toEqual([]);

  const file = 'services/storefront/server.mjs';
  const text = await fixtureText('monorepo', file);
  await pushFixture(harness, 'monorepo', 'autumn', { [file]: text.replace('Tools for', 'Autumn in') });
  const third = await harness.spawn(repository, 'autumn');
  const { weburl: thirdUrl } = await builtFixture(harness, third);
  await pageWith(thirdUrl, '"title":"Autumn in the garden"');
  expect(await linesByService(harness, third)).toMatchObject({ catalog: unchanged, pricing: unchanged });
  expect(await buildContainers(harness, third)).toEqual(['build-storefront']);
}

const librarySchema = z.object({ seed: z.uuid(), books: z.array(z.string()) });

async function seedsNewVolumes(): Promise<void> {
  const repository = await harness.addRepository('library', await pushFixture(harness, 'seeded-volume', 'main'));
  const id = await harness.spawn(repository, 'main');
  const { weburl } = await builtFixture(harness, id);
  const library = async (text: string) => librarySchema.parse(JSON.parse(await pageWith(weburl, text, 90)));
  const seeded = await library('Woodlands, by Oliver Rackham');
  expect(seeded.books).toHaveLength(3);

  const body = JSON.stringify({ title: 'The Overstory', author: 'Richard Powers' });
  expect((await send(weburl, { method: 'POST', body })).status).toBe(200);
  const program = await fixtureText('seeded-volume', 'app/library.py');
  await pushFixture(harness, 'seeded-volume', 'main', { 'app/library.py': program.replace(', by {', ' by {') });
  await ask('build');
  const built = await library('The Overstory by Richard Powers');
  expect(built.seed).toBe(seeded.seed);
  expect(built.books).toHaveLength(4);

  await ask('rebuild');
  const rebuilt = await library('Woodlands by Oliver Rackham');
  expect(rebuilt.seed).not.toBe(seeded.seed);
  expect(rebuilt.books).toHaveLength(3);

  async function ask(what: 'build' | 'rebuild'): Promise<void> {
    const before = (await harness.client.environment(id)).build?.number ?? 0;
    expect((await harness.client.send('POST', `/api/environment/${id}/${what}`)).status).toBe(202);
    await harness.client.waitForEnvironment(
      id,
      (environment) => environment.status === 'built' && (environment.build?.number ?? 0) > before,
      300,
    );
  }
}
