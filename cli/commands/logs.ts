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
  if (session.format === 'yaml' || session.format === 'name')
    throw usageError(`a log is printed as text, or with -o json as one object per line, not as ${session.format}`);
  const build = given.number('build', 1);
  const tail = given.number('tail', 0);
  const follow = given.flag('follow');
  if (follow && tail !== undefined && service === undefined)
    throw usageError(
      '--tail with --follow is for the log of a --service. The log of a build is followed from its start',
    );
  if (service !== undefined && build !== undefined) throw usageError('use --build or --service, not both');
  const read = () =>
    suggesting(session, 'environment', id, () =>
      installation.readLog(
        id,
        { service, build, tail, follow },
        {
          onMessage: (message) => printMessage(session, message),
          onLine: (line) => printLine(session, line),
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

/** Prints a line of a build's log as text, or as JSON like messages. */
async function printLine({ io, format }: Session, line: string): Promise<void> {
  await write(io.out, format === 'json' ? `${visibleJson(JSON.stringify({ line }))}\n` : `${visible(line)}\n`);
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
