import type { BuildLogMessage } from '../../build-logs/message.ts';
import { endOfLog, followLog } from '../api/log.ts';
import { textOf } from '../api/http.ts';
import { note, write } from '../io.ts';
import { coloured, hasColours } from '../output/colours.ts';
import { visible, visibleJson } from '../output/safe-text.ts';
import { environmentPath } from '../paths.ts';
import { environmentId, suggesting } from '../resolve.ts';
import type { Run, Session } from '../session.ts';
import { usageError } from '../errors.ts';

export const logs: Run = async (session, [name]) => {
  const { client, given, io } = session;
  const id = await environmentId(session, name);
  const service = given.text('service');
  const build = given.number('build', 1);
  const tail = given.number('tail', 0);
  if (service !== undefined && build !== undefined) throw usageError('use --build or --service, not both');
  const path =
    service === undefined
      ? `${environmentPath(id)}/build/logs`
      : `${environmentPath(id)}/services/${encodeURIComponent(service)}/logs`;
  await suggesting(session, 'environment', id, async () => {
    if (given.flag('follow')) {
      await followLog({
        ...{ client, path },
        query: { build, ...(service !== undefined && { tail }) },
        onMessage: (message) => printMessage(session, message),
        onReconnect: (why) => note(io, `${why}; connecting again`),
      });
    } else if (service !== undefined) {
      const response = await client.open('GET', path, { query: { tail } });
      const lines = (await textOf(response)).split('\n').filter((line) => line !== '');
      // The same server declares this form; see docs/reference/rest-api.md.
      for (const line of lines) await printMessage(session, JSON.parse(line) as BuildLogMessage);
    } else if (tail !== undefined) {
      for (const line of await endOfLog(client, id, build, tail)) await write(io.out, `${visible(line)}\n`);
    } else {
      const response = await client.open('GET', path, { query: { build }, headers: { accept: 'text/plain' } });
      let rest = '';
      response.setEncoding('utf8');
      for await (const chunk of response) {
        const lines = (rest + String(chunk)).split('\n');
        rest = lines.pop() ?? '';
        await write(io.out, lines.map((line) => `${visible(line)}\n`).join(''));
      }
      if (rest !== '') await write(io.out, `${visible(rest)}\n`);
    }
  });
};

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
