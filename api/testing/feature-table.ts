import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The answers to a request, by who sends it, as docs/reference/access.md lists them. */
export interface FeatureRow {
  feature: string;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** `/api/environment/{id}/approve` */
  path: string;
  readOnly: Answer;
  member: Answer;
  outside: Answer;
  visitor: Answer;
}

/** The status of a refusal; `yes` if the caller is not refused. */
export type Answer = number | 'yes';

const page = join(import.meta.dirname, '../../docs/reference/access.md');
const heading = '## Features by caller';

/** Returns the rows that name a request. */
export function featureRows(): FeatureRow[] {
  const text = readFileSync(page, 'utf8');
  const section = text.slice(text.indexOf(heading) + heading.length).split('\n## ')[0] ?? '';
  return section.split('\n').flatMap((line) => {
    if (!line.startsWith('|')) return [];
    const [feature = '', , request = '', ...answers] = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    const [, method = '', path = ''] = /^`(GET|POST|PUT|PATCH|DELETE) ([^`]+)`$/.exec(request) ?? [];
    if (path === '') return [];
    const [readOnly = NaN, member = NaN, outside = NaN, visitor = NaN] = answers.map((cell): Answer => {
      return cell === 'yes' ? cell : Number(cell);
    });
    const lower = method.toLowerCase() as FeatureRow['method'];
    return [{ feature, method: lower, path: `/api/${path}`, readOnly, member, outside, visitor }];
  });
}
