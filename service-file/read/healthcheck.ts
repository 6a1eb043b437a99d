import type { Problems } from '../problems.ts';
import type { Healthcheck } from '../schema.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';
import { healthcheckKeys } from './keys/service-keys.ts';
import { type Fields, optional, readBoolean, readFields, readInteger, readText, readTextList } from './read.ts';
import { readSeconds } from './seconds.ts';

type ProbeTimes = Omit<Healthcheck, 'command' | 'http'>;

/** Docker's defaults, which also replace 0, as in Docker. */
const defaultTimes: ProbeTimes = { intervalSeconds: 30, timeoutSeconds: 30, retries: 3, startPeriodSeconds: 0 };

/** Reads a service's health check; returns 'none' for `disable: true` and `test: NONE`, undefined on errors. */
export function readHealthcheck(node: YamlNode, problems: Problems): Healthcheck | 'none' | undefined {
  const fields = readFields(node, healthcheckKeys, problems);
  if (fields === undefined) return undefined;
  const times = readProbeTimes(fields, defaultTimes, problems);
  const disabled = optional(fields, 'disable', readBoolean, problems) ?? false;
  const test = fields.get('test')?.value;
  if (test === undefined) {
    if (!disabled) {
      problems.warn(
        node,
        "ignored: it has no test, and the image's own health check is unknown here: write the test here",
      );
    }
    return 'none';
  }
  const command = readTest(test, problems);
  if (disabled || command === 'none') return 'none';
  return command === undefined ? undefined : { command, ...times };
}

export function readProbeTimes(fields: Fields, defaults: ProbeTimes, problems: Problems): ProbeTimes {
  const seconds = (key: string): number | undefined =>
    optional(fields, key, (value) => readSeconds(value, {}, problems), problems);
  const retries = optional(fields, 'retries', (value) => readInteger(value, { min: 0, max: 1000 }, problems), problems);
  return {
    intervalSeconds: seconds('interval') || defaults.intervalSeconds,
    timeoutSeconds: seconds('timeout') || defaults.timeoutSeconds,
    retries: retries || defaults.retries,
    startPeriodSeconds: seconds('start_period') ?? defaults.startPeriodSeconds,
  };
}

/** Returns the test as an argument vector. */
function readTest(node: YamlNode, problems: Problems): string[] | 'none' | undefined {
  if (node.kind !== 'list') {
    const line = readText(node, problems);
    if (line === undefined) return undefined;
    return line.trim() === '' ? problems.error(node, 'is empty: write the test') : shell(line);
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
