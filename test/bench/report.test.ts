import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { measurementsText } from './measurements.ts';
import { isShown, REPORTS, pageText } from './report.ts';

test.each(Object.entries(REPORTS))(
  'has written the page of %s from its figures: npm run generate',
  async (_, report) => {
    expect(readFileSync(report.page, 'utf8')).toBe(await pageText(report));
  },
);

test('shows parts beside each other, and joins percentiles and baselines of a figure', () => {
  const figure = (name: string, value: number, baseline?: string) => ({
    ...{ name, unit: 's', samples: [value, value + 2, value + 1] },
    ...(baseline !== undefined && { baseline: { name: baseline, samples: [2] } }),
  });
  const run = { commit: 'c0ffee', date: '2026-11-22T10:00:00.000Z', machine: '2 cores', load: 1.25 };
  const text = measurementsText(
    {
      title: 'T',
      text: 'Text.',
      sections: [
        { title: 'S', text: 'One.', parts: { a: 'first', b: 'second', none: 'third' }, rows: 'figures' },
        { title: 'F', text: 'Two.', parts: { b: 'second' }, rows: 'parts' },
      ],
    },
    [
      { ...run, part: 'a', figures: [figure('a: x', 1, 'script'), figure('a: x', 1, 'plain'), figure('a: y, p50', 3)] },
      { ...run, part: 'b', load: null, figures: [{ ...figure('x', 5), target: '≤ 6' }, figure('y, p99', 7, 'plain')] },
    ],
  );
  expect(text.split('\n').slice(2)).toEqual([
    '# T',
    '',
    'Text.',
    '',
    '## S',
    '',
    'One.',
    '',
    '| figure | first | second |',
    '| --- | --- | --- |',
    '| x | 2.00 s (1.00 × script; 1.00 × plain) | 6.00 s (target ≤ 6) |',
    '| y (× plain) | p50 4.00 s | p99 8.00 s (4.00 ×) |',
    '',
    'Commit c0ffee, 2026-11-22, 2 cores: first, load 1.3, medians of 3; second, medians of 3.',
    '',
    '## F',
    '',
    'Two.',
    '',
    '|  | x (target ≤ 6) | y (× plain) | commit |',
    '| --- | --- | --- | --- |',
    '| second | 6.00 s | p99 8.00 s (4.00 ×) | c0ffee |',
  ]);
});

test('prints parts without a page alone', () => {
  expect([isShown(REPORTS.bench, 'builds'), isShown(REPORTS.bench, 'scale-20')]).toEqual([true, false]);
});
