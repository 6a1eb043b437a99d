import type { BuildLogMessage } from '../../build-logs/message.ts';
import type { TerminalText } from './terminal-text.ts';

/** A line of a log as it is shown. */
export interface LogLine extends TerminalText {
  /** Identifies the line in links: in the log of a build its number, in the log of a service derived from its time. */
  seq: number;
  /** Number among the lines that were received, from 1. */
  position: number;
  /** RFC 3339 */
  time: string;
  service: string;
  stage: string;
  pod?: string;
}

/** The result of a build. */
export type LogEnd = Extract<BuildLogMessage, { end: object }>['end'];

/** Splits a frame of the log's WebSocket into messages. */
export function parseFrame(frame: string): BuildLogMessage[] {
  // Not validated: the server that sends it defines its type (docs/reference/rest-api.md).
  return frame.split('\n').map((line) => JSON.parse(line) as BuildLogMessage);
}

export type Level = 'error' | 'warning' | 'plain';

const errors = /\b(?:error|fatal|panic|exception|traceback|failed|failure|ERR!|denied)\b/i;
const notErrors = /\b(?:0|no) (?:errors?|failed|failures?)\b/i;
const warnings = /\bwarn(?:ing)?\b/i;

/** Guesses the level of a line from its words, for its colour and for the filter of errors. */
export function levelOf(text: string): Level {
  if (errors.test(text) && !notErrors.test(text)) return 'error';
  return warnings.test(text) ? 'warning' : 'plain';
}

/** Returns the time of a line as a clock in the reader's time zone: `14:03:05.120`. */
export function clockOf(time: string): string {
  const date = new Date(time);
  const two = (value: number) => String(value).padStart(2, '0');
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return `${clock}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

const tabWidth = 8;

/** Replaces tabs by spaces, so that each character takes one column. */
export function withoutTabs(text: string): string {
  return text.replaceAll('\t', ' '.repeat(tabWidth));
}
