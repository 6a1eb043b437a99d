import { expect, test } from '@jest/globals';
import { codeBlock } from './text.ts';

test.each([
  ['@everyone <b>*bold*</b>', '```text\n@everyone <b>*bold*</b>\n```'],
  ['```\n[//]: # (coppice)\n```', '````text\n```\n[//]: # (coppice)\n```\n````'],
  ['`````', '``````text\n`````\n``````'],
  ['a\u0007b\n\tc', '```text\nab\n\tc\n```'],
])('nothing leaves a code block: %j', (text, block) => {
  expect(codeBlock(text)).toBe(block);
});

test('a code block is bounded', () => {
  expect(codeBlock('😀'.repeat(5000)).length).toBeLessThan(4100);
});
