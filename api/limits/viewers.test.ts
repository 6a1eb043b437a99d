import { beforeEach, expect, test } from '@jest/globals';
import { TooManyRequests, Unavailable } from '../shared/errors.ts';
import { Viewers } from './viewers.ts';

let refused: string[];
let viewers: Viewers;

beforeEach(() => {
  refused = [];
  viewers = new Viewers({ total: 3, perAccount: 2 }, { refused: (limit) => void refused.push(limit) });
});

test('limits the viewers of an account, and of all accounts', () => {
  viewers.take('alice');
  viewers.take('alice');
  expect(() => viewers.take('alice')).toThrow(TooManyRequests);
  viewers.take('bob');
  expect(() => viewers.take('bob')).toThrow(Unavailable);
  expect(refused).toEqual(['viewers', 'viewers']);
});

test('frees the slot of a closed viewer once', () => {
  const release = viewers.take('alice');
  viewers.take('alice');
  release();
  release();
  expect(viewers.total).toBe(1);
  viewers.take('alice');
  expect(() => viewers.take('alice')).toThrow(TooManyRequests);
});
