import { RemoteExit } from '../errors.ts';
import { required } from '../paths.ts';
import { environmentId, suggesting, suggestingPart } from '../resolve.ts';
import type { Run } from '../session.ts';
import { serviceNames } from './logs.ts';

export const exec: Run = async (session, [name, service, ...words]) => {
  const { installation, given, io } = session;
  const id = await environmentId(session, required(name, 'the environment'));
  const called = required(service, 'the service');
  const command = words.filter((word) => word !== undefined);
  const hasTerminal = io.isTerminal.in && io.isTerminal.out && given.flag('tty') && given.flag('stdin');
  const run = () =>
    suggesting(session, 'environment', id, () =>
      installation.exec(id, {
        ...{ service: called, pod: given.text('pod'), command, hasTerminal, hasInput: given.flag('stdin') },
      }),
    );
  const names = () => serviceNames(session, id);
  const code = await suggestingPart({ what: `${id} has no service`, name: called, read: names }, run);
  if (code !== 0) throw new RemoteExit(code);
};
