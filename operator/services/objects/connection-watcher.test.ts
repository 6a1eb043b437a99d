import { expect, test } from '@jest/globals';
import { connectedAddresses, connectionWatcher } from './connection-watcher.ts';

test.each<[string, string[] | undefined]>([
  ['connected: ', []],
  ['connected:', []],
  ['connected: 0100007F ', ['127.0.0.1']],
  ['connected: 0501F40A 0601F40A ', ['10.244.1.5', '10.244.1.6']],
  ['connected: 0000000000000000FFFF00000501F40A ', ['10.244.1.5']],
  ['connected: B80D0120000000000000000001000000 ', ['2001:db8::1']],
  ['sh: awk: not found', undefined],
  ['connected: x ', undefined],
])('reads %j', (line, expected) => {
  expect(connectedAddresses(line)).toEqual(expected);
});

test('lists the ports as the kernel writes them', () => {
  expect(connectionWatcher('coppice:1', [80, 3000]).command?.at(-1)).toBe(' 0050 0BB8 ');
});
