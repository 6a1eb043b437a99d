import { expect, test } from '@jest/globals';
import { parser } from '@prometheus-io/lezer-promql';
import { ALERT_CASES } from './alert-cases.ts';
import { exportedNames } from './exported-metrics.ts';
import { expressionsOf, groups, panels, renderedRules } from './rules.ts';

const rules = groups.flatMap((group) => group.rules);
const expressions: [where: string, expression: string][] = [
  ...rules.map(({ alert, expr }): [string, string] => [alert, expr]),
  ...panels.flatMap((panel) => expressionsOf(panel).map((expr): [string, string] => [panel.title, expr])),
];

/** Returns the syntax errors of an expression, and the series that it uses. */
function partsOf(expression: string): { faults: string[]; names: string[] } {
  const faults: string[] = [];
  const names: string[] = [];
  parser.parse(expression).iterate({
    enter: ({ type, from, to, node }) => {
      const text = expression.slice(from, to);
      if (type.isError) faults.push(`at ${from}: ${expression.slice(from, from + 20)}`);
      if (type.name === 'Identifier' && node.parent?.name === 'VectorSelector') names.push(text);
    },
  });
  return { faults, names };
}

test.each(expressions)('has valid PromQL for %s, which uses exported metrics', (_where, expression) => {
  const { faults, names } = partsOf(expression);
  expect(faults).toEqual([]);
  expect(names.length).toBeGreaterThan(0);
  const exported = exportedNames();
  expect(names.filter((name) => !exported.has(name))).toEqual([]);
});

test('detects a wrong expression and an unknown series', () => {
  expect(partsOf('sum(rate(up[5m])').faults).not.toEqual([]);
  expect(partsOf('rate(coppice_of_no_such_name[5m]) > 1').names).toEqual(['coppice_of_no_such_name']);
  expect(exportedNames().has('coppice_of_no_such_name')).toBe(false);
});

test('gives each alert and each panel a name of its own', () => {
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
});

test("passes promtool's tests of each alert with exported series", () => {
  expect(ALERT_CASES.map(({ alert }) => alert)).toEqual(rules.map(({ alert }) => alert));
  const exported = exportedNames();
  const series = ALERT_CASES.flatMap((one) => [...Object.keys(one.series), ...Object.keys(one.quiet)]);
  expect(series.flatMap((one) => partsOf(one).names).filter((name) => !exported.has(name))).toEqual([]);
});

test('contains them unchanged', async () => {
  expect(await renderedRules()).toEqual({ rules: { groups }, panels });
});
