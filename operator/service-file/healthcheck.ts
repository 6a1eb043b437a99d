import { parseDuration } from './duration.ts';
import { healthcheckKeys } from './keys.ts';
import type { Problems } from './problems.ts';
import { quoted } from './problems.ts';
import { optional, readBoolean, readFields, readInteger, readText, readTextList } from './read.ts';
import type { Healthcheck } from './schema.ts';
import type { YamlNode } from './yaml-node.ts';

/** Docker's defaults. */
const DEFAULTS = { intervalSeconds: 30, timeoutSeconds: 30, retries: 3, startPeriodSeconds: 0 };
const DAY = 86_400;

/** A service's health check; 'none' when it is switched off (`disable: true`, `test: NONE`), undefined on errors. */
export function readHealthcheck(node: YamlNode, problems: Problems): Healthcheck | 'none' | undefined {
  const fields = readFields(node, healthcheckKeys, problems);
  if (fields === undefined) return undefined;
  const seconds = (key: string, min: number): number | undefined =>
    optional(fields, key, (value) => readSeconds(value, min, problems), problems);
  const times = {
    intervalSeconds: seconds('interval', 1) ?? DEFAULTS.intervalSeconds,
    timeoutSeconds: seconds('timeout', 1) ?? DEFAULTS.timeoutSeconds,
    retries:
      optional(fields, 'retries', (value) => readInteger(value, { min: 1, max: 1000 }, problems), problems) ??
      DEFAULTS.retries,
    startPeriodSeconds: seconds('start_period', 0) ?? DEFAULTS.startPeriodSeconds,
  };
  const disabled = optional(fields, 'disable', readBoolean, problems) ?? false;
  const test = fields.get('test')?.value;
  if (test === undefined) {
    if (disabled) return 'none';
    return problems.error(node, "has no test: an image's own health check is not seen here, so write the test out");
  }
  const command = readTest(test, problems);
  if (disabled || command === 'none') return 'none';
  return command === undefined ? undefined : { command, ...times };
}

/** The test as an argument vector. */
function readTest(node: YamlNode, problems: Problems): string[] | 'none' | undefined {
  if (node.kind !== 'list') {
    const line = readText(node, problems);
    if (line === undefined) return undefined;
    return line.trim() === '' ? problems.error(node, 'is empty: write the test out') : shell(line);
  }
  const test = readTextList(node, problems);
  if (test === undefined) return undefined;
  const [kind, ...words] = test;
  const [first] = words;
  if (kind === 'NONE' && first === undefined) return 'none';
  if (kind === 'CMD' && first !== undefined && first !== '') return words;
  if (kind === 'CMD-SHELL' && first !== undefined && words.length === 1) return shell(first);
  return problems.error(node, 'must be a line for the shell, ["CMD", program, …], ["CMD-SHELL", line] or ["NONE"]');
}

function shell(line: string): string[] {
  return ['/bin/sh', '-c', line];
}

/** Kubernetes counts whole seconds: a part of one is rounded up, and told. */
function readSeconds(node: YamlNode, min: number, problems: Problems): number | undefined {
  const text = readText(node, problems);
  if (text === undefined) return undefined;
  const exact = parseDuration(text);
  if (exact === undefined)
    return problems.error(node, `${quoted(text)} is no duration: write one such as 10s or 1m30s`);
  const seconds = Math.ceil(exact);
  if (seconds < min || seconds > DAY) return problems.error(node, `must be from ${min}s to 24h, not ${quoted(text)}`);
  if (seconds !== exact) problems.warn(node, `${quoted(text)} is rounded up to ${seconds}s`);
  return seconds;
}
