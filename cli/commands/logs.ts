import type { BuildLogMessage } from '../../build-logs/message.ts';
import { usageError } from '../errors.ts';
import { note, write } from '../io.ts';
import { coloured, hasColours } from '../output/colours.ts';
import { visible, visibleJson } from '../output/safe-text.ts';
import { environmentId, suggesting, suggestingPart } from '../resolve.ts';
import type { Run, Session } from '../session.ts';

export const logs: Run = async (session, [name]) => {
  const { installation, given, io } = session;
  const id = await environmentId(session, name);
  const service = given.text('service');
  const build = given.number('build', 1);
  const tail = given.number('tail', 0);
  if (service !== undefined && build !== undefined) throw usageError('use --build or --service, not both');
  const read = () =>
    suggesting(session, 'environment', id, () =>
      installation.readLog(
        id,
        { service, build, tail, follow: given.flag('follow') },
        {
          onMessage: (message) => printMessage(session, message),
          onLine: (line) => write(io.out, `${visible(line)}\n`),
          onReconnect: (why) => note(io, `${why}; connecting again`),
        },
      ),
    );
  if (service === undefined) await read();
  else {
    const names = () => serviceNames(session, id);
    await suggestingPart({ what: `${id} has no service`, name: service, read: names }, read);
  }
};

/** Returns the names of the services of an environment. */
export async function serviceNames({ installation }: Session, id: string, signal?: AbortSignal): Promise<string[]> {
  return (await installation.environment(id, signal)).services.map(({ name }) => name);
}

async function printMessage(session: Session, message: BuildLogMessage): Promise<void> {
  const { io, format } = session;
  if (format === 'json') {
    await write(io.out, `${visibleJson(JSON.stringify(message))}\n`);
    return;
  }
  if ('end' in message) {
    note(io, `build ${message.end.result}: ${message.end.message}`);
    return;
  }
  const parts = [message.service, message.stage, message.pod ?? ''].filter((part) => part !== '');
  const prefix = coloured(`[${visible(parts.join(' '))}]`, 'dim', hasColours(io, 'out'));
  await write(io.out, `${prefix} ${visible(message.line).replaceAll('\n', ' ')}\n`);
}
