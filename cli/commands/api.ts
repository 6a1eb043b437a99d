import { textOf } from '../api/http.ts';
import type { Method } from '../api/client.ts';
import { usageError } from '../errors.ts';
import { write } from '../io.ts';
import { nested } from '../nested.ts';
import { visible, visibleJson } from '../output/safe-text.ts';
import { required } from '../paths.ts';
import type { Run } from '../session.ts';

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Sends any request to the REST API, and prints the answer. */
export const api: Run = async ({ client, io, given }, [verb, path]) => {
  const method = methods.find((one) => one === required(verb, 'METHOD').toUpperCase());
  if (!method) throw usageError(`${verb ?? ''} is not one of ${methods.join(', ')}`);
  const given_ = required(path, 'PATH');
  const full = given_.startsWith('/') ? given_ : `/api/${given_}`;
  const data = given.text('data');
  const fields = given.list('field');
  if (data !== undefined && fields.length > 0) throw usageError('use --data or --field, not both');
  const body = data === '-' ? await io.readInput() : (data ?? (fields.length > 0 ? nested(fields) : undefined));
  const response = await client.open(method, full, { body });
  const text = await textOf(response);
  const isJson = (response.headers['content-type'] ?? '').startsWith('application/json');
  const shown = isJson ? visibleJson(JSON.stringify(JSON.parse(text), undefined, 2)) : safe(text, io.isTerminal.out);
  await write(io.out, shown.endsWith('\n') || shown === '' ? shown : `${shown}\n`);
};

/** Returns text that is not JSON: unchanged for programs, visible for a terminal. */
function safe(text: string, isTerminal: boolean): string {
  return isTerminal ? visible(text) : text;
}
