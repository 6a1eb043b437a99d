import type { z } from 'zod';

type Issue = z.core.$ZodRawIssue;

const maxName = 60;

/**
 * Returns the message for a fault without one in its schema, to follow the field's path: `is missing: send a string`.
 * Undefined if zod's own message is used. Repeats only field names of the input.
 */
export function faultWords(issue: Issue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return `is missing: send ${typeWords(issue.expected)}`;
      return `must be ${typeWords(issue.expected)}, and is ${typeWords(typeOf(issue.input))}`;
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`;
    case 'too_small':
      if (issue.origin === 'string' && issue.minimum === 1) return 'must not be empty';
      return `must ${amountWords(issue.origin, issue.minimum)} at least`;
    case 'too_big':
      return `must ${amountWords(issue.origin, issue.maximum)} at most`;
    case 'unrecognized_keys':
      return `has fields that are not known here: ${issue.keys.map((key) => key.slice(0, maxName)).join(', ')}`;
    default:
      return undefined;
  }
}

const articles: Partial<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'a boolean, true or false',
  object: 'a JSON object',
  record: 'a JSON object',
  array: 'a list',
};

function typeWords(type: string): string {
  return articles[type] ?? type;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function amountWords(origin: string, amount: number | bigint): string {
  if (origin === 'string') return `have ${amount} characters`;
  if (origin === 'array' || origin === 'set') return `have ${amount} entries`;
  return `be ${amount}`;
}
