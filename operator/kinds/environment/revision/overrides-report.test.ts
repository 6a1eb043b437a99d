import { expect, test } from '@jest/globals';
import type { OverridesSpec } from '../../../../crds/environment.ts';
import { overridesReport } from './overrides-report.ts';

const variables = (...names: string[]): OverridesSpec['variables'] =>
  names.map((name) => ({ name, value: 'x', visibility: 'always' }));
const serviceFile = { content: 'services: {}' };

test.each<[string, OverridesSpec | undefined]>([
  ['overrides', undefined],
  ['anything in them', {}],
  ['variables', { variables: [] }],
])('reports nothing without %s', (_what, overrides) => {
  expect(overridesReport(overrides, { isTrusted: true })).toBeUndefined();
});

test.each<[string, OverridesSpec, boolean, string, RegExp]>([
  ['variables', { variables: variables('B', 'A') }, true, 'True Overridden', /the variables A, B$/],
  ['both', { variables: variables('A'), serviceFile }, true, 'True Overridden', /variables A and the service file$/],
  ['code that is not trusted', { serviceFile }, false, 'False NotTrusted', /have no effect/],
  ['a reserved name', { variables: variables('COPPICE_X', 'A') }, true, 'True ReservedName', /^COPPICE_X: ignored/],
  ['only reserved names', { variables: variables('COPPICE_X') }, true, 'False ReservedName', /^COPPICE_X: ignored/],
])('reports %s', (_what, overrides, isTrusted, expected, message) => {
  const report = overridesReport(overrides, { isTrusted });
  expect(`${report?.status ?? ''} ${report?.reason ?? ''}`).toBe(expected);
  expect(report?.message).toMatch(message);
});
