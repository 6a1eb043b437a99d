import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { ENDPOINT_CASES } from '../../contract/endpoints.ts';
import { FIELD_CASES } from '../../contract/fields.ts';
import { FIELD_ROWS, TYPE_ROWS } from '../../contract/rows.ts';
import { pageCanBeTried } from '../../contract/page.ts';
import { namesItsParameters, RULE_CASES, STATE_CASES } from '../../contract/rules.ts';
import { see, show, startWorld, type Seen, type World } from '../../contract/world.ts';
import { testsSideBySide } from '../side-by-side.ts';

let world: World;
let seeing: Promise<Seen>;

beforeAll(async () => {
  world = await startWorld();
  seeing = see(world, await show(world));
  seeing.catch(() => undefined); // each test of a field awaits it
}, 90_000);

afterAll(() => world.harness.remove(), 60_000);

/** Sections 3, 4, 5, 7 and 8 of the contract: a case for each row, side by side. */
const cases = Object.entries({ ...ENDPOINT_CASES, ...STATE_CASES, ...RULE_CASES });
const types = TYPE_ROWS.map((type) => [`params of ${type}`, () => namesItsParameters(world, type)] as const);
testsSideBySide(
  {
    ...Object.fromEntries([...cases.map(([row, run]) => [row, () => run(world)] as const), ...types]),
    'the page of the document can be tried': () => pageCanBeTried(world),
  },
  240_000,
  // All at once, more users would log in than two cores can check the passwords of within the client's timeout.
  16,
);

describe('section 2', () => {
  test.each(FIELD_ROWS)('%s', async (row) => FIELD_CASES[row](await seeing), 200_000);
});
