import { levelOf, type LogLine } from './log-line.ts';

export interface LogFilter {
  service?: string | undefined;
  stage?: string | undefined;
  isErrorsOnly?: boolean | undefined;
}

/** Returns whether a line matches a filter. */
export function matchesFilter(line: LogLine, { service, stage, isErrorsOnly }: LogFilter): boolean {
  if (service !== undefined && line.service !== service) return false;
  if (stage !== undefined && line.stage !== stage) return false;
  return isErrorsOnly !== true || levelOf(line.text) === 'error';
}

/** Returns the ranges of a text that match, ignoring case, as pairs of start and end. */
export function matchRanges(text: string, wanted: string): [number, number][] {
  if (wanted === '') return [];
  const lower = text.toLowerCase();
  // Lower case can change the length of a text, so that its positions are no longer those of the text.
  const isAligned = lower.length === text.length;
  const searched = isAligned ? lower : text;
  const sought = isAligned ? wanted.toLowerCase() : wanted;
  const ranges: [number, number][] = [];
  for (let at = searched.indexOf(sought); at >= 0; at = searched.indexOf(sought, at + sought.length)) {
    ranges.push([at, at + sought.length]);
  }
  return ranges;
}
