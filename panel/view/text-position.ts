/** Returns the offset of a line and column, which count from 1, in a text; its end if there is no such line. */
export function offsetOf(text: string, line: number, column: number): number {
  const lines = text.split('\n');
  if (line > lines.length) return text.length;
  const before = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  return before + Math.min(Math.max(0, column - 1), lines[line - 1]?.length ?? 0);
}
