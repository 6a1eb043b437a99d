import { usageError } from '../errors.ts';
import type { ForwardedPort } from '../installation.ts';
import { required } from '../paths.ts';
import { environmentId, suggesting, suggestingPart } from '../resolve.ts';
import type { Run } from '../session.ts';
import { serviceNames } from './logs.ts';

export const portForward: Run = async (session, [name, service, ...texts]) => {
  const { installation, given } = session;
  const ports = texts.map((text) => forwardedPort(text ?? ''));
  const id = await environmentId(session, required(name, 'the environment'));
  const called = required(service, 'the service');
  const run = () =>
    suggesting(session, 'environment', id, () =>
      installation.forward(id, { service: called, pod: given.text('pod'), ports }),
    );
  await suggestingPart({ what: `${id} has no service`, name: called, read: () => serviceNames(session, id) }, run);
};

/** Parses `LOCAL:REMOTE`, `PORT` for both, or `:REMOTE` for any free local port. @throws CliError */
export function forwardedPort(text: string): ForwardedPort {
  const [, local, remote] = /^(?:(\d*):)?(\d+)$/.exec(text) ?? [];
  const port = { local: Number(local === '' ? 0 : (local ?? remote)), remote: Number(remote) };
  const isPort = (number: number, min: number) => number >= min && number <= 65_535;
  if (remote === undefined || !isPort(port.remote, 1) || !isPort(port.local, 0)) {
    throw usageError(`${text} is not a port. Write LOCAL:REMOTE, such as 15432:5432`);
  }
  return port;
}
