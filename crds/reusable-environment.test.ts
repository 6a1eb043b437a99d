import { expect, test } from '@jest/globals';
import fc from '../test/properties.ts';
import { isResourceName } from './ids.ts';
import { reusableLabelSchema, reusableName, storeNamespace } from './reusable-environment.ts';

const repository = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$/);
const label = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$/).filter((text) => text.length <= 40);

test('names it by a DNS label that only its repository and label have', () => {
  fc.assert(
    fc.property(repository, label, repository, label, (one, its, other, others) => {
      const name = reusableName(one, its);
      expect(isResourceName(name)).toBe(true);
      expect(name === reusableName(other, others)).toBe(one === other && its === others);
    }),
  );
  expect(reusableName('a-b', 'c')).not.toBe(reusableName('a', 'b-c'));
});

test.each(['', '-a', 'a-', 'A', 'a_b', 'a.b', 'a/b', 'a'.repeat(41)])('refuses the label %j', (text) => {
  expect(reusableLabelSchema.safeParse(text).success).toBe(false);
});

test('gives every group a store of its own, whose name is short enough for a namespace', () => {
  expect(storeNamespace('acme')).toBe('reusable-acme');
  expect(isResourceName(storeNamespace('g'.repeat(50)))).toBe(true);
});
