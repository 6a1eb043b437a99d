import { expect, test } from '@jest/globals';
import { samplesOf, sumOf } from './metrics-page.ts';

const page = `# HELP requests_total Requests
# TYPE requests_total counter
requests_total{verb="APPLY",resource="environments",subresource="status"} 12
requests_total{verb="POST",resource="secrets",words="a \\"quoted\\", one"} 3 1700000000
requests_total_other 7
memory_bytes 1.5e+08
`;

test('reads the samples of one metric, with their labels', () => {
  expect(samplesOf(page, 'requests_total')).toEqual([
    { labels: { verb: 'APPLY', resource: 'environments', subresource: 'status' }, value: 12 },
    { labels: { verb: 'POST', resource: 'secrets', words: 'a \\"quoted\\", one' }, value: 3 },
  ]);
  expect(samplesOf(page, 'memory_bytes')).toEqual([{ labels: {}, value: 150_000_000 }]);
  expect(samplesOf(page, 'nothing')).toEqual([]);
});

test('adds the samples with these labels', () => {
  expect(sumOf(page, 'requests_total')).toBe(15);
  expect(sumOf(page, 'requests_total', { verb: 'POST' })).toBe(3);
  expect(sumOf(page, 'requests_total', { verb: 'GET' })).toBe(0);
});
