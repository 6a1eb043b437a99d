/** How a problem in a service file starts: its file, line and column. */
const located = /^[^\s:]+:\d+:\d+: /;

/** A failure in parts: several equal problems, or one with the output of a program. */
export interface ProblemLines {
  problems: readonly string[];
  output: readonly string[];
}

/** Splits the message of a failure. Only a failed program writes output below its problem. */
export function problemLines(reason: string, message: string): ProblemLines {
  const lines = message.trim().split('\n');
  const isList = reason === 'ServiceFileInvalid' || lines.every((line) => located.test(line));
  return isList
    ? { problems: lines.filter((line) => line.trim() !== ''), output: [] }
    : { problems: lines.slice(0, 1), output: lines.slice(1) };
}

/** Returns the message of a failure for one line: its first problem, and how many others there are, if there are any. */
export function problemInOneLine(reason: string, message: string): { first: string; more: string } {
  const { problems } = problemLines(reason, message);
  const [first = ''] = problems;
  const others = problems.length - 1;
  if (others <= 0) return { first, more: '' };
  // A list of environments has only the start of a long message.
  return { first, more: `and ${message.endsWith('…') ? 'more' : `${others} more`}` };
}
