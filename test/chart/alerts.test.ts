import { expect, test } from '@jest/globals';
import { parser } from '@prometheus-io/lezer-promql';
import { alertCases } from './alert-cases.ts';
import { exportedNames } from './exported-metrics.ts';
import { expressionsOf, groups, panels, renderedRules } from './rules.ts';

const rules = groups.flatMap((group) => group.rules);
const expressions: [where: string, expression: string][] = [
  ...rules.map(({ alert, expr }): [string, string] => [alert, expr]),
  ...panels.flatMap((panel) => expressionsOf(panel).map((expr): [string, string] => [panel.title, expr])),
];

/** What is wrong with the syntax, and which series it asks for. */
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

test.each(expressions)('%s is PromQL, and asks for what is exported', (_where, expression) => {
  const { faults, names } = partsOf(expression);
  expect(faults).toEqual([]);
  expect(names.length).toBeGreaterThan(0);
  const exported = exportedNames();
  expect(names.filter((name) => !exported.has(name))).toEqual([]);
});

test('a wrong expression and an unknown series are noticed', () => {
  expect(partsOf('sum(rate(up[5m])').faults).not.toEqual([]);
  expect(partsOf('rate(coppice_of_no_such_name[5m]) > 1').names).toEqual(['coppice_of_no_such_name']);
  expect(exportedNames().has('coppice_of_no_such_name')).toBe(false);
});

test('each alert and each panel has a name of its own', () => {
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
});

test('promtool tries each alert, with series that are exported', () => {
  expect(alertCases.map(({ alert }) => alert)).toEqual(rules.map(({ alert }) => alert));
  const exported = exportedNames();
  const series = alertCases.flatMap((one) => [...Object.keys(one.series), ...Object.keys(one.quiet)]);
  expect(series.flatMap((one) => partsOf(one).names).filter((name) => !exported.has(name))).toEqual([]);
});

test('the chart brings them as they are', async () => {
  expect(await renderedRules()).toEqual({ rules: { groups }, panels });
});
