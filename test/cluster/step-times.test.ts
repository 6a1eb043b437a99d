import { describe, expect, it } from '@jest/globals';
import { stepTable } from './step-times.ts';

const column = (steps: { name: string; start: number; seconds: number }[], busy?: number) => ({
  date: '2026-01-02',
  processors: 2,
  steps,
  ...(busy !== undefined && { busy }),
});

describe('stepTable', () => {
  const image = (hash: string) => `build coppice:${hash.repeat(16)}`;
  const times = {
    empty: column([
      { name: image('a'), start: 0, seconds: 30 },
      { name: 'the sample page is up', start: 31, seconds: 0 },
    ]),
    up: column(
      [
        { name: image('b'), start: 0, seconds: 0.2 },
        { name: 'short', start: 1, seconds: 0.5 },
        { name: 'the sample page is up', start: 2, seconds: 0 },
      ],
      0.876,
    ),
  };

  it('has a row for a step whatever the hash in its name', () => {
    expect(stepTable(times)).toContain('| build coppice | 30 | 0.2 |');
  });

  it('leaves out steps that took less than a second everywhere', () => {
    expect(stepTable(times)).not.toContain('short');
  });

  it('ends with the time of the page and of the whole', () => {
    expect(stepTable(times)).toContain('| **start → sample page** | **31** | **2.0** |');
    expect(stepTable(times)).toContain('| **start → end** | **31** | **2.0** |');
  });

  it('shows how busy the processors were, where that was measured', () => {
    expect(stepTable(times)).toContain('| processors busy until the page |  | 88 % |');
  });
});
