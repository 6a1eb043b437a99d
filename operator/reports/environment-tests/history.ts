import {
  MAX_HISTORY_BYTES,
  MAX_LABEL,
  MAX_NUMBERS,
  MAX_TESTED_BUILDS,
  MAX_TESTS,
  type Finding,
  type TestedBuild,
  type TestHistory,
} from '../../../crds/test-history.ts';
import type { ResultItem } from '../../../tester-client/interface.ts';
import { oneLine } from '../../shared/one-line.ts';

/** Decimal numbers as JavaScript writes them; the longest has 24 characters. */
const decimal = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/;
const maxEncoded = 32;
/** Labels are shortened in two steps, because counting the characters of a long text takes time. */
const maxRawLabel = 1000;

/**
 * Returns the numbers in the results of a run: the first of each label. Tests name labels after texts of the
 * repository, so their length and number are limited.
 */
export function numbersOf(items: readonly ResultItem[]): Finding['numbers'] {
  const numbers = new Map<string, number>();
  for (const item of items) {
    const label = oneLine(item.Label.slice(0, maxRawLabel), MAX_LABEL);
    const value = numberIn(item);
    if (value === undefined || label === '' || numbers.has(label)) continue;
    numbers.set(label, value);
    if (numbers.size === MAX_NUMBERS) break;
  }
  return [...numbers];
}

function numberIn({ Type, Content }: ResultItem): number | undefined {
  if (Type !== 'number' || Content.length > maxEncoded) return undefined;
  const text = Buffer.from(Content, 'base64').toString('utf8');
  const value = decimal.test(text) ? Number(text) : NaN;
  return Number.isFinite(value) ? value : undefined;
}

/**
 * Returns the history with a finding about a build, instead of an earlier one of the same test. Builds with a higher
 * number belong to an earlier numbering and are removed.
 */
export function withFinding(history: TestHistory, of: Omit<TestedBuild, 'tests'>, finding: Finding): TestHistory {
  const before = history.find(({ build, commit }) => build === of.build && commit === of.commit);
  const others = before?.tests.filter(({ name }) => name !== finding.name) ?? [];
  const newest = { ...of, tests: [...others, finding].slice(-MAX_TESTS) };
  return withinLimits([newest, ...history.filter(({ build }) => build < of.build)]);
}

function withinLimits(history: TestHistory): TestHistory {
  const kept = history.slice(0, MAX_TESTED_BUILDS);
  while (kept.length > 1 && Buffer.byteLength(JSON.stringify(kept)) > MAX_HISTORY_BYTES) kept.pop();
  return kept;
}
