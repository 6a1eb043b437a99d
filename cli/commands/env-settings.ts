import type { EnvironmentView } from '../api/types.ts';
import { printValue } from '../output/print.ts';
import { environmentPath } from '../paths.ts';
import { environmentId, suggesting } from '../resolve.ts';
import type { Run } from '../session.ts';
import { readEnvironment } from './env.ts';
import { partOf, splitSettings } from './settings-arguments.ts';

/** Shows the environment's own settings, or changes those given as `NAME=VALUE`. */
export const settings: Run = async (session, args) => {
  const { client, format, io } = session;
  const { name, changes } = splitSettings(args);
  const id = await environmentId(session, name);
  const isChange = Object.keys(changes).length > 0;
  const path = `${environmentPath(id)}/settings`;
  const send = () => client.send<EnvironmentView>('POST', path, { body: changes });
  const view = isChange ? await suggesting(session, 'environment', id, send) : await readEnvironment(session, id);
  const printed = isChange ? partOf(view.settings, changes) : view.settings;
  await printValue(io, format === 'json' ? 'json' : 'yaml', printed);
};
