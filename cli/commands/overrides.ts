import type { OverridesView } from '../api/types.ts';
import { usageError } from '../errors.ts';
import { note, write } from '../io.ts';
import { printList, printValue } from '../output/print.ts';
import { visible } from '../output/safe-text.ts';
import { environmentPath } from '../paths.ts';
import { readText } from '../read-text.ts';
import { environmentId, suggesting } from '../resolve.ts';
import type { Run } from '../session.ts';
import { SHOWN_OWN_VARIABLES } from '../shown.ts';

/** Shows the overrides of an environment, replaces their service file, or deletes all. */
export const overrides: Run = async (session, [name]) => {
  const { client, io, format, given } = session;
  const file = given.text('file');
  const isCleared = given.flag('clear');
  if (file !== undefined && isCleared) throw usageError('use --file or --clear, not both');
  const text = file === undefined ? undefined : file === '-' ? await io.readInput() : readText(io, file);
  const id = await environmentId(session, name);
  const path = `${environmentPath(id)}/overrides`;
  const view = await suggesting(session, 'environment', id, () => {
    if (isCleared) return client.send<OverridesView>('DELETE', path);
    if (text === undefined) return client.get<OverridesView>(path);
    const body = { serviceFile: Buffer.from(text).toString('base64') };
    return client.send<OverridesView>('POST', path, { body });
  });
  if (format === 'json' || format === 'yaml') await printValue(io, format, view);
  else await print(view);
  for (const warning of view.warnings ?? []) note(io, `warning: ${warning}`);
  if (isCleared || text !== undefined) note(io, `${id}: changed. It takes effect with the next build`);
  if (!view.applies) note(io, 'the code of this environment is not trusted, so it gets no overrides');

  async function print({ variables, serviceFile, withheld }: OverridesView): Promise<void> {
    const shown = Buffer.from(serviceFile, 'base64').toString('utf8');
    if (variables.length > 0) await printList(io, format, variables, SHOWN_OWN_VARIABLES);
    if (shown !== '') await write(io.out, `${variables.length > 0 ? '\n' : ''}${visible(shown.trimEnd())}\n`);
    if (withheld) note(io, 'the token does not permit reading the service file');
    else if (variables.length === 0 && shown === '') note(io, `${id} has no overrides`);
  }
};
