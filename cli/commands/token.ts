import type { Client } from '../api/client.ts';
import type { ApiTokenView, UserView } from '../api/types.ts';
import { usageError } from '../errors.ts';
import { note, write } from '../io.ts';
import { printList, printValue } from '../output/print.ts';
import { visible } from '../output/safe-text.ts';
import { required } from '../paths.ts';
import { suggestingPart } from '../resolve.ts';
import type { Run } from '../session.ts';
import { SHOWN_TOKENS } from '../shown.ts';

const path = '/api/user/tokens';
const defaultSeconds = 90 * 86_400;

/** Returns the names of your API tokens. */
export async function tokenNames(client: Client, signal?: AbortSignal): Promise<string[]> {
  const { apiTokens } = await client.get<UserView>('/api/user/info', {}, signal);
  return apiTokens.map(({ Name }) => Name);
}

export const list: Run = async ({ client, io, format }) => {
  const { apiTokens } = await client.get<UserView>('/api/user/info');
  await printList(io, format, apiTokens, SHOWN_TOKENS);
};

export const create: Run = async ({ client, io, format, given }, [name]) => {
  const [groups, repositories, access] = [given.list('group'), given.list('repo'), given.text('access')];
  const scopes = {
    ...(access !== undefined && { access }),
    ...(groups.length > 0 && { groups }),
    ...(repositories.length > 0 && { repositories }),
  };
  const expires = new Date(io.now() + (given.seconds('expires') ?? defaultSeconds) * 1000);
  if (Number.isNaN(expires.getTime())) throw usageError('--expires is too long');
  const body = {
    name: required(name, 'NAME'),
    expirationTime: expires.toISOString(),
    ...(Object.keys(scopes).length > 0 && { scopes }),
  };
  const created = await client.send<ApiTokenView & { token: string }>('POST', path, { body });
  if (format === 'json' || format === 'yaml') await printValue(io, format, created);
  else await write(io.out, `${visible(created.token)}\n`);
  note(io, `expires on ${created.ExpiresOn}. The token is shown once`);
};

export const remove: Run = async ({ client, io }, [name]) => {
  const token = required(name, 'NAME');
  const read = () => tokenNames(client);
  await suggestingPart({ what: 'you have no API token', name: token, read }, () =>
    client.send<ApiTokenView[]>('DELETE', path, { body: { name: token } }),
  );
  note(io, `${token}: deleted`);
};
