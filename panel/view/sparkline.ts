/** Returns the path of a line through values at equal distances; the largest value is at the top, 0 at the bottom. */
export function sparklinePath(values: readonly number[], { width, height }: { width: number; height: number }): string {
  const max = Math.max(...values);
  const step = values.length > 1 ? (width - 2) / (values.length - 1) : 0;
  const points = values.map((value, index) => {
    const y = height - 1 - (max > 0 ? (value / max) * (height - 2) : 0);
    return `${round(1 + index * step)} ${round(y)}`;
  });
  return `M${points.join('L')}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
