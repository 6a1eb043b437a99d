export interface Position {
  /** In percent, from the left. */
  x: number;
  /** In percent, from the top. */
  y: number;
}

/** Returns the ends of the scale, which contains 0, so that small differences look small. */
export function rangeOf(values: readonly number[]): { min: number; max: number } {
  return { min: Math.min(0, ...values), max: Math.max(0, ...values) };
}

/** Returns the positions of values at equal distances, on the scale of rangeOf(). */
export function positionsOf(values: readonly number[]): Position[] {
  const { min, max } = rangeOf(values);
  // Halves, because the difference of the largest numbers is not finite.
  const range = max / 2 - min / 2;
  return values.map((value, index) => ({
    x: values.length > 1 ? round((100 * index) / (values.length - 1)) : 50,
    y: range > 0 ? round(100 * ((max / 2 - value / 2) / range)) : 100,
  }));
}

export function linePath(positions: readonly Position[]): string {
  return positions.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${x} ${y}`).join('');
}

/** Returns the indexes that are labelled on the axis: the first, the last, and others at about equal distances. */
export function ticksOf(count: number, maxTicks: number): number[] {
  const gaps = Math.min(count, maxTicks) - 1;
  if (gaps < 1) return count > 0 ? [0] : [];
  return Array.from({ length: gaps + 1 }, (_none, tick) => Math.round((tick * (count - 1)) / gaps));
}

/** Returns the index of the value nearest to a position. @param fraction from the left, 0 to 1 */
export function indexAt(fraction: number, count: number): number {
  return Math.min(Math.max(Math.round(fraction * (count - 1)), 0), count - 1);
}

/** Returns a number as it is read beside a plot, with four digits unless it is an integer. */
export function numberText(value: number): string {
  if (Number.isSafeInteger(value)) return String(value);
  const rounded = value.toPrecision(4);
  // The largest numbers are rounded to one that is not finite.
  return Number.isFinite(Number(rounded)) ? String(Number(rounded)) : rounded;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
