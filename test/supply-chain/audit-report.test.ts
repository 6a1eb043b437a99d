import { expect, test } from '@jest/globals';
import { judge } from './audit-report.ts';

const url = 'https://github.com/advisories/GHSA-aaaa-bbbb-cccc';
const advisory = { source: 1, name: 'left', title: 'It falls', url, severity: 'high', range: '<2' };
const report = (...via: unknown[]) =>
  JSON.stringify({
    auditReportVersion: 2,
    vulnerabilities: {
      ...(via.length > 0 && { left: { via, fixAvailable: false }, right: { via: ['left'], fixAvailable: false } }),
    },
  });
const exception = { url, reason: 'only reached by a developer of this very repository', until: '2027-01-01' };

test.each([
  ['nothing known', report(), [], []],
  ['an advisory, reported once', report(advisory), [], [`left <2: high: It falls (${url})`]],
  ['one that is excepted', report(advisory), [exception], []],
  ['an exception that is over', report(advisory), [{ ...exception, until: '2026-12-01' }], /expired on 2026-12-01/],
  ['an exception of nothing', report(), [exception], /not needed any more/],
])('%s', (_what, output, exceptions, expected) => {
  const audit = judge(output, exceptions, '2026-12-01');
  const problems = audit.checked ? audit.problems : undefined;
  if (expected instanceof RegExp) expect(problems).toEqual([expect.stringMatching(expected)]);
  else expect(problems).toEqual(expected);
});

test('does not treat a registry without the endpoint as one without findings', () => {
  const output = JSON.stringify({ message: '405 Method Not Allowed', statusCode: 405, error: { summary: '' } });
  expect(judge(output, [], '2026-12-01')).toEqual({ checked: false, why: '405 Method Not Allowed' });
  expect(() => judge('{}', [], '2026-12-01')).toThrow();
});
