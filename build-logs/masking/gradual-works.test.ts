import { expect, test } from '@jest/globals';
import { GradualWorks } from './gradual-works.ts';

/** A work whose steps take some milliseconds each. */
function* work(steps: number, ended: () => void): Generator<void, number> {
  for (let step = 0; step < steps; step++) {
    const start = performance.now();
    while (performance.now() - start < 6);
    yield;
  }
  ended();
  return steps;
}

test('carries out steps of the smallest work first, and small works at once', async () => {
  const works = new GradualWorks(10);
  const ended: string[] = [];
  const run = (name: string, size: number) =>
    works.run(
      size,
      work(2, () => ended.push(name)),
    );
  const all = [run('first', 1000), run('large', 500), run('medium', 100)];
  const small = run('small', 10);
  expect(ended).toEqual(['small']);
  expect(await small).toBe(2);
  await Promise.all(all);
  expect(ended).toEqual(['small', 'medium', 'large', 'first']);
});

test('pauses between steps', async () => {
  let ticks = 0;
  const timer = setInterval(() => ticks++, 1);
  const works = new GradualWorks(0);
  await Promise.all([
    works.run(
      1,
      work(5, () => undefined),
    ),
    works.run(
      2,
      work(5, () => undefined),
    ),
  ]);
  clearInterval(timer);
  expect(ticks).toBeGreaterThanOrEqual(16);
});

test('reports what a work throws, and goes on with others', async () => {
  const works = new GradualWorks(0);
  const failing = works.run(
    1,
    (function* (): Generator<void> {
      yield;
      throw new Error('cannot');
    })(),
  );
  const other = works.run(
    2,
    work(1, () => undefined),
  );
  await expect(failing).rejects.toThrow('cannot');
  expect(await other).toBe(1);
});
