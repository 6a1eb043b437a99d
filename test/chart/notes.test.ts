import { expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { run } from '../support/run.ts';
import { withValue } from './leaves.ts';
import { toolPath } from '../cluster/go/programs.ts';
import { CHART } from './render.ts';
import { MIN_VALUES } from './sample-values.ts';

/** Returns what `helm install` prints with these values. */
async function notesOf(values: object): Promise<string> {
  const args = ['install', 'coppice', CHART, '--namespace', 'coppice-system', '--dry-run=client', '--values', '-'];
  const printed = await run(toolPath('helm'), args, { input: stringify(values) });
  const [, notes] = printed.split(/^NOTES:$/m);
  if (notes === undefined) throw new Error(`helm printed no notes: ${printed}`);
  return notes.replace(/\s+/g, ' ');
}

const anyone = 'Anyone who knows the address of an environment and reaches the Ingress controller can open it';

test.each([
  ['by default', MIN_VALUES, `${anyone}, unless an owner of the group restricts that`],
  ['for members', withValue(MIN_VALUES, 'environments.access.default', 'members'), 'Only members of a group can open'],
  ['where nothing asks the API', withValue(MIN_VALUES, 'environments.access.enforcedBy', 'none'), `${anyone}. docs/`],
])('the notes say who can open environments %s', async (_what, values, words) => {
  expect(await notesOf(values)).toContain(words);
});
