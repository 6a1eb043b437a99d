import { expect, test } from '@jest/globals';
import { ResumeFilter } from './resume-filter.ts';

test.each<
  [string, { time: string; count: number } | undefined, string[], string[], { time: string; count: number } | undefined]
>([
  ['all of a new source', undefined, ['1', '2', '2'], ['1', '2', '2'], { time: '2', count: 2 }],
  ['nothing of what was seen', { time: '2', count: 2 }, ['1', '2', '2'], [], { time: '2', count: 2 }],
  ['what follows', { time: '2', count: 1 }, ['1', '2', '3'], ['3'], { time: '3', count: 1 }],
  ['one more of the same time', { time: '2', count: 1 }, ['1', '2', '2'], ['2'], { time: '2', count: 2 }],
  ['nothing of nothing', undefined, [], [], undefined],
])('%s', (_, position, times, fresh, after) => {
  const filter = new ResumeFilter(position);
  expect(times.filter((time) => filter.isNew(time))).toEqual(fresh);
  expect(filter.position).toEqual(after);
});
