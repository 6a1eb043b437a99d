import { expect, test } from '@jest/globals';
import { readRecord, recordText, type HousekeepingRecord } from './record.ts';

const record: HousekeepingRecord = {
  schedule: '*/10 * * * *',
  timeZone: 'Europe/Berlin',
  nextRun: new Date('2026-06-10T10:10:00Z'),
  lastRun: {
    at: new Date('2026-06-10T10:00:00.5Z'),
    outcome: 'failed',
    seconds: 0.2,
    message: 'the registry responded with status 500 for "acme/shop/web": see its log',
  },
};

test('reads what it wrote', () => {
  expect(readRecord(recordText(record))).toEqual(record);
  const first: HousekeepingRecord = { schedule: '0 3 * * *', timeZone: 'UTC', nextRun: record.nextRun };
  expect(readRecord(recordText(first))).toEqual(first);
});

test('writes lines that kubectl shows as they are', () => {
  expect(recordText(record)).toBe(
    [
      'schedule: "*/10 * * * *"',
      'timeZone: Europe/Berlin',
      'nextRun: 2026-06-10T10:10:00.000Z',
      'lastRun:',
      '  at: 2026-06-10T10:00:00.500Z',
      '  outcome: failed',
      '  seconds: 0.2',
      '  message: \'the registry responded with status 500 for "acme/shop/web": see its log\'',
      '',
    ].join('\n'),
  );
});

test.each([undefined, '', 'schedule: [', 'nextRun: tomorrow', '- 1', recordText(record).replace('failed', 'unknown')])(
  'ignores %j',
  (text) => {
    expect(readRecord(text)).toBeUndefined();
  },
);
