import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { startProgress } from './progress.ts';

describe('startProgress', () => {
  it('records when a step started, in seconds since the start of the run', async () => {
    const progress = startProgress({ isTTY: false, columns: 80, write: () => true });
    await progress.step('first', () => sleep(50));
    await progress.step('second', () => sleep(20));
    const [first, second] = progress.steps;
    expect(first).toMatchObject({ name: 'first' });
    expect(second?.start).toBeGreaterThanOrEqual(0.045);
    expect(second?.seconds).toBeGreaterThanOrEqual(0.015);
  });
});
