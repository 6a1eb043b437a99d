import { getEventListeners } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { CHANNEL, CONFIRM_AFTER, dataFrames, MAX_FRAME_BYTES, WINDOW } from './frames.ts';
import { ReceiveWindow, SendWindow } from './windows.ts';

const frame = (byteLength: number) => ({ byteLength });
const full = frame(MAX_FRAME_BYTES);

test('splits bytes into frames of at most the permitted size', () => {
  const bytes = Buffer.alloc(70_000, 7);
  const frames = [...dataFrames(CHANNEL.input, bytes)];
  expect(frames.map(({ byteLength }) => byteLength)).toEqual([32_769, 32_769, 4465]);
  expect(Buffer.concat(frames.map((one) => one.subarray(1))).equals(bytes)).toBe(true);
  expect(frames.every(([channel]) => channel === CHANNEL.input)).toBe(true);
  expect([...dataFrames(CHANNEL.input, new Uint8Array())]).toEqual([]);
});

describe('the window of a sender', () => {
  test('closes at its size, and opens when something is confirmed', async () => {
    const window = new SendWindow();
    for (let sent = 0; sent < WINDOW; sent += MAX_FRAME_BYTES) {
      expect(window.isOpen).toBe(true);
      window.sent(full);
    }
    expect(window.isOpen).toBe(false);
    const open = window.whenOpen(new AbortController().signal);
    expect(window.confirmed(CONFIRM_AFTER)).toBe(true);
    await open;
    expect(window.isOpen).toBe(true);
  });

  test('wakes all who wait, and leaves no listener behind', async () => {
    const window = new SendWindow();
    const { signal } = new AbortController();
    for (let count = 0; count < 9; count++) window.sent(full);
    const waiting = [window.whenOpen(signal), window.whenOpen(signal)];
    expect(getEventListeners(signal, 'abort')).toHaveLength(2);
    window.confirmed(CONFIRM_AFTER);
    await Promise.all(waiting);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('counts short frames as more, because each needs memory', () => {
    const window = new SendWindow();
    for (let count = 0; count < WINDOW / 512; count++) window.sent(frame(2));
    expect(window.isOpen).toBe(false);
  });

  test.each([
    ['more than was sent', CONFIRM_AFTER * 2],
    ['less than the minimum', 1],
    ['less than nothing', -CONFIRM_AFTER],
    ['no number', NaN],
  ])('refuses a confirmation of %s', (_what, cost) => {
    const window = new SendWindow();
    for (let count = 0; count < 3; count++) window.sent(full);
    expect(window.confirmed(cost)).toBe(false);
  });

  test('stops waiting when the connection is closed', async () => {
    const window = new SendWindow();
    for (let count = 0; count < 9; count++) window.sent(full);
    const closed = new AbortController();
    const open = window.whenOpen(closed.signal);
    closed.abort();
    await open;
    expect(window.isOpen).toBe(false);
  });
});

describe('the window of a receiver', () => {
  test('confirms in large steps, and never less than a sender accepts', () => {
    const confirmed: number[] = [];
    const [receiver, sender] = [new ReceiveWindow((cost) => confirmed.push(cost)), new SendWindow()];
    for (let count = 0; count < 100; count++) {
      expect(sender.isOpen).toBe(true);
      sender.sent(full);
      expect(receiver.received(full)).toBe(true);
      receiver.processed(full);
      for (const cost of confirmed.splice(0)) expect(sender.confirmed(cost)).toBe(true);
    }
  });

  test('detects a sender that does not wait', () => {
    const receiver = new ReceiveWindow(() => undefined);
    let count = 0;
    while (receiver.received(full)) count++;
    expect(count).toBe(8);
  });
});
