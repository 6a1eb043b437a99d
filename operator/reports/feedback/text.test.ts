import { expect, test } from '@jest/globals';
import { codeBlock, codeSpan } from './text.ts';

test.each([
  ['@everyone <b>*bold*</b>', '```text\n@everyone <b>*bold*</b>\n```'],
  ['```\n[//]: # (coppice)\n```', '````text\n```\n[//]: # (coppice)\n```\n````'],
  ['`````', '``````text\n`````\n``````'],
  ['a\u0007b\n\tc', '```text\nab\n\tc\n```'],
])('lets nothing end a code block: %j', (text, block) => {
  expect(codeBlock(text)).toBe(block);
});

test('limits the length of a code block', () => {
  expect(codeBlock('😀'.repeat(5000)).length).toBeLessThan(4100);
});

test('removes terminal sequences and invisible characters as masks expect', () => {
  expect(codeBlock('a\u001b[31mb\u0001c\u200bd\te\nf')).toBe('```text\nabcd\te\nf\n```');
});

test.each([
  ['feature/@team', '` feature/@team `'],
  ['a`b``c', '``` a`b``c ```'],
  ['a\n[//]: # (coppice)', '` a [//]: # (coppice) `'],
])('lets nothing end a code span: %j', (text, span) => {
  expect(codeSpan(text)).toBe(span);
});
