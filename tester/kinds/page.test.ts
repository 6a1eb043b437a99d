import { describe, expect, test } from '@jest/globals';
import type { PageSnapshot } from '../browser/page-snapshot.ts';
import { outcomeOf, type PageParams } from './page.ts';

const url = 'http://shop--acme.env.localhost:8080/';
const asked: PageParams = { url, path: '/', width: 1280, height: 800, consoleErrors: false };
const seen: PageSnapshot = {
  status: 200,
  title: 'The shop',
  hasText: false,
  times: { firstAnswerMs: 12, loadMs: 340 },
  errors: [],
  moreErrors: 0,
  blocked: [],
  screenshot: Buffer.from('picture').toString('base64'),
};

describe('a page', () => {
  test.each<[string, Partial<PageParams>, Partial<PageSnapshot>, boolean, string]>([
    ['as it should be', {}, {}, true, '"The shop" loaded in 340 ms'],
    ['without a title', {}, { title: '' }, true, 'the page loaded in 340 ms'],
    ['with its text', { text: 'Hello' }, { hasText: true }, true, '"The shop" loaded in 340 ms'],
    ['without its text', { text: 'Hello' }, {}, false, 'the page does not show "Hello"'],
    ['of another status', {}, { status: 500 }, false, 'the page has the status 500 instead of 2xx'],
    ['with an error', {}, { errors: ['boom'] }, false, '1 error in the console: boom'],
    ['with many', {}, { errors: ['boom', 'b'], moreErrors: 3 }, false, '5 errors in the console: boom'],
    ['whose errors are allowed', { consoleErrors: true }, { errors: ['boom'] }, true, '"The shop" loaded in 340 ms'],
    ['that asks others', {}, { blocked: ['http://cdn.example/x.js'] }, true, '"The shop" loaded in 340 ms'],
    ['not opened', { text: 'Hello' }, { fault: 'no way', screenshot: undefined }, false, 'no way'],
    [
      'that hangs',
      {},
      { screenshot: undefined },
      false,
      'the page does not respond, because one of its scripts does not end',
    ],
    [
      'wrong in all',
      { text: 'Hello' },
      { status: 404, errors: ['boom'] },
      false,
      'the page has the status 404 instead of 2xx; the page does not show "Hello"; 1 error in the console: boom',
    ],
  ])('%s', (_what, params, snapshot, passed, summary) => {
    expect(outcomeOf({ ...asked, ...params }, { ...seen, ...snapshot })).toMatchObject({ passed, summary });
  });
});

test('labels its items', () => {
  const { items } = outcomeOf(asked, { ...seen, errors: ['boom'], blocked: ['http://cdn.example/x.js'] });
  expect(items.map(({ Label, Type, Content }) => [Label, Type, Buffer.from(Content, 'base64').toString()])).toEqual([
    ['status', 'number', '200'],
    ['title', 'string', 'The shop'],
    ['first answer', 'number', '12'],
    ['load time', 'number', '340'],
    ['console errors', 'number', '1'],
    ['console error 1', 'string', 'boom'],
    ['blocked request 1', 'string', 'http://cdn.example/x.js'],
    ['screenshot', 'image', 'picture'],
  ]);
});
