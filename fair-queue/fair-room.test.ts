import { describe, expect, test } from '@jest/globals';
import { FairRoom } from './fair-room.ts';

/** `a1:40` is an item of the tenant a with the size 40; `-a1` deletes it, `+a1` touches it. */
function dropped(...steps: string[]): string[][] {
  const room = new FairRoom(100);
  return steps.map((step) => {
    const [key = '', size] = step.replace(/^[-+]/, '').split(':');
    if (step.startsWith('-')) room.delete(key);
    else if (step.startsWith('+')) room.touch(key);
    else return room.add(key.slice(0, 1), key, Number(size));
    return [];
  });
}

describe('fair room', () => {
  test.each([
    ['keeps items that fit', ['a1:40', 'a2:60'], [[], []]],
    ['drops the oldest', ['a1:40', 'a2:40', 'a3:40'], [[], [], ['a1']]],
    ['drops as many as it takes', ['a1:30', 'a2:30', 'a3:30', 'a4:80'], [[], [], [], ['a1', 'a2', 'a3']]],
    ['drops those of the tenant that has most', ['b1:20', 'a1:40', 'a2:30', 'a3:30'], [[], [], [], ['a1']]],
    ['lets a tenant displace its own', ['b1:40', 'a1:40', 'a2:40', 'a3:40'], [[], [], ['a1'], ['a2']]],
    ['drops an item that is too large by itself', ['a1:101', 'a2:10'], [['a1'], []]],
    ['counts deleted items no longer', ['a1:90', '-a1', 'a2:90'], [[], [], []]],
    ['counts a replaced item once', ['a1:90', 'a1:80', 'b1:20'], [[], [], []]],
    ['keeps what was used last', ['a1:40', 'a2:40', '+a1', 'a3:40'], [[], [], [], ['a2']]],
    ['ignores unknown keys', ['-a1', '+a1', 'a2:90'], [[], [], []]],
  ])('%s', (_what, steps, gone) => {
    expect(dropped(...steps)).toEqual(gone);
  });

  test('shrinks, the oldest items of the largest tenant first', () => {
    const room = new FairRoom();
    for (const key of ['b1', 'a1', 'a2', 'a3']) room.add(key.slice(0, 1), key, 10);
    expect(room.shrink(20)).toEqual(['a1', 'a2']);
    expect(room.shrink(20)).toEqual([]);
  });
});
