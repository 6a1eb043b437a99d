import { expect, test } from '@jest/globals';
import { contentAddress, type BuildInput } from './content-address.ts';

const input: BuildInput = {
  contextTree: 'a1',
  dockerfile: 'Dockerfile',
  dockerfileId: 'd1',
  target: undefined,
  args: { B: '2', A: '1' },
};

test('equal input, equal address, in whatever order the arguments come', () => {
  expect(contentAddress({ ...input, args: { A: '1', B: '2' } })).toBe(contentAddress(input));
  expect(contentAddress(input)).toMatch(/^[0-9a-f]{40}$/);
});

test.each<Partial<BuildInput>>([
  { contextTree: 'a2' },
  { dockerfile: 'other' },
  { dockerfileId: 'd2' },
  { target: 'production' },
  { args: { A: '1' } },
  { args: { A: '1', B: '3' } },
  { args: { 'A","1': '', B: '2' } },
])('%j changes it', (change) => {
  expect(contentAddress({ ...input, ...change })).not.toBe(contentAddress(input));
});
