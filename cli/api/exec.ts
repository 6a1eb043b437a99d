import type { Readable } from 'node:stream';
import { CHANNEL } from '../../shell-protocol/frames.ts';
import type { ExecRequest } from '../installation.ts';
import type { Io, TerminalStreams } from '../io.ts';
import { environmentPath } from '../paths.ts';
import type { Client } from './client.ts';
import { PodSession } from './pod-session.ts';

/** Runs a command in a container with this process's standard streams, and returns its exit code. @throws CliError */
export async function execInPod(client: Client, io: Io, id: string, request: ExecRequest): Promise<number> {
  const { service, pod, command, hasTerminal, hasInput } = request;
  const streams = io.streams();
  const path = `${environmentPath(id)}/services/${encodeURIComponent(service)}/exec`;
  const onData = (channel: number, bytes: Uint8Array) =>
    written(channel === CHANNEL.error ? streams.stderr : streams.stdout, bytes);
  const session = await PodSession.open({ client, path, query: { pod }, onData });
  const stops: (() => void)[] = [];
  try {
    session.send({
      start: {
        ...(command.length > 0 && { command: [...command] }),
        ...(hasTerminal && { terminal: streams.size() }),
        input: hasInput,
      },
    });
    await session.started;
    if (hasTerminal) stops.push(...atTerminal(session, streams));
    if (hasInput) stops.push(pump(session, streams.stdin));
    const ended = await session.ended;
    return 'exit' in ended ? ended.exit.code : 0;
  } finally {
    for (const stop of stops) stop();
    session.close();
  }
}

/** Passes on keys as they are typed, and changes of the size; returns what ends this. */
function atTerminal(session: PodSession, { stdin, onResize, size }: TerminalStreams): (() => void)[] {
  stdin.setRawMode?.(true);
  // It may have changed since the start was sent.
  session.send({ resize: size() });
  return [() => void stdin.setRawMode?.(false), onResize(() => session.send({ resize: size() }))];
}

/** Sends what is read; returns what ends this. */
function pump(session: PodSession, stdin: Readable): () => void {
  let sent = Promise.resolve();
  const data = (chunk: Buffer | string) => {
    stdin.pause();
    sent = sent.then(() => session.input(Buffer.from(chunk as Buffer))).then(() => void stdin.resume());
  };
  // A stream can report its end although it is paused.
  const end = () => void sent.then(() => session.send({ inputEnd: true }));
  stdin.on('data', data);
  stdin.once('end', end);
  return () => {
    stdin.off('data', data);
    stdin.off('end', end);
    stdin.pause();
  };
}

function written(stream: NodeJS.WritableStream, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}
