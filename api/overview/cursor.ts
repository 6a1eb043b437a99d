import { z } from 'zod';
import { invalid } from '../shared/errors.ts';
import { jsonText } from '../shared/json-text.ts';
import { SORTS, type Sort, type SortKey } from './sorting.ts';

const cursorText = jsonText(z.tuple([z.enum(SORTS)], z.union([z.string().max(300), z.number()])));

/** Returns the cursor of the page after this key. */
export function cursorAfter(sort: Sort, key: SortKey): string {
  return Buffer.from(JSON.stringify([sort, ...key])).toString('base64url');
}

/** Returns the key after which a page starts. @throws Invalid if the cursor is not one of a list in this order */
export function keyOfCursor(sort: Sort, cursor: string): SortKey {
  const { data } = cursorText.safeParse(Buffer.from(cursor, 'base64url').toString('utf8'));
  const [ofSort, ...key] = data ?? [];
  if (ofSort === sort && key.length > 0) return key;
  const message = 'must be the `next` of a page with the same `sort`. Start again without it';
  throw invalid('the query', [{ path: 'cursor', message }]);
}
