import type { Request, Response } from 'express';
import { z } from 'zod';
import type { LogReader } from '../../build-logs/reader.ts';
import { MAX_RUNTIME_LOG_BYTES, MAX_RUNTIME_MESSAGE_BYTES } from '../../build-logs/runtime-writer.ts';
import type { Environment } from '../../crds/environment.ts';
import { keyOf } from '../../kubernetes/resource-type.ts';
import type { Authenticator } from '../auth/authenticate.ts';
import type { Caller } from '../auth/caller.ts';
import type { Directory, EnvironmentTarget } from '../auth/visibility.ts';
import { streamEndpoint, type Endpoint } from '../http/endpoint.ts';
import { holdAnswer } from '../limits/held-memory.ts';
import type { Viewers } from '../limits/viewers.ts';
import { NotFound, UpgradeRequired } from '../shared/errors.ts';
import { parse } from '../http/parse.ts';
import type { WebSockets } from '../http/web-sockets.ts';
import { isWebSocketUpgrade } from '../shared/web-socket-upgrade.ts';
import { currentBuildView } from './build-view.ts';
import { logStreamQuerySchema, runtimeLogQuerySchema } from './environment-parameters.ts';
import type { AcceptedSocket } from './log-socket.ts';
import { type LogStreamOptions, streamLog } from './log-stream.ts';
import { streamRuntimeLog } from './runtime-log-stream.ts';
import { answerLogText, MAX_SILENCE_MS } from './log-text.ts';
import type { RuntimeLogs } from './runtime-logs.ts';
import { serviceOf } from './service-of.ts';

export interface LogRoutesOptions extends LogStreamOptions {
  directory: Directory;
  authenticator: Authenticator;
  webSockets: WebSockets;
  viewers: Pick<Viewers, 'take'>;
  reader: Pick<LogReader, 'read' | 'readKept'>;
  runtimeLogs: Pick<RuntimeLogs, 'follow' | 'read'>;
}

interface ServiceTarget extends EnvironmentTarget {
  environmentID: string;
  serviceID: string;
}

interface LogCall<Target> {
  caller: Caller;
  target: Target;
  request: Request;
  response: Response;
}

/**
 * Routes of logs: streams over WebSockets, and the existing lines for plain requests. Their parameters are extensions:
 * `?build=` selects a build, `?from=` resumes a log. So are the logs of services.
 */
export function logRoutes(options: LogRoutesOptions): Endpoint[] {
  const { directory } = options;
  const followed = { method: 'get', writes: false, answer: z.string() } as const;
  return [
    streamEndpoint({
      ...followed,
      path: '/api/environment/{environmentID}/build/logs',
      summary: "Streams a build's log over a WebSocket, or returns it as text",
      query: logStreamQuerySchema,
      mediaType: 'text/plain',
      also: { 101: 'Response to a WebSocket handshake.', 426: 'The handshake is not valid.' },
      find: (caller, { environmentID }) => directory.environment(caller, environmentID),
      serve: buildLog(options),
    }),
    streamEndpoint({
      ...followed,
      path: '/api/environment/{environmentID}/services/{serviceID}/logs',
      summary: "Streams a service's log over a WebSocket, or returns its last lines (extension)",
      description: 'Without a WebSocket each line is a JSON object.',
      query: runtimeLogQuerySchema,
      mediaType: 'application/x-ndjson',
      also: {
        101: 'Response to a WebSocket handshake.',
        426: 'The handshake is not valid, or `follow` is set without one.',
      },
      find: (caller, { environmentID, serviceID }) => ({
        ...directory.environment(caller, environmentID),
        environmentID,
        serviceID,
      }),
      serve: serviceLog(options),
    }),
  ];
}

function buildLog(options: LogRoutesOptions) {
  const { reader } = options;
  return async ({ caller, target, request, response }: LogCall<EnvironmentTarget>) => {
    const { environment } = target;
    const canRead = stillCanRead(caller, target, options);
    const { build, from, header } = parse(logStreamQuerySchema, request.query, 'the query');
    if (build !== undefined && build > newestBuild(environment))
      throw new NotFound('there is no build of this number yet. GET …/builds lists the builds');
    if (!isWebSocketUpgrade(request)) {
      await answerLogText(request, response, { environment, build, from }, reader);
      return;
    }
    const accepted = acceptViewer({ caller, request, response }, options);
    void streamLog(accepted, { environment, build, from, header, canRead }, options);
  };
}

function serviceLog(options: LogRoutesOptions) {
  const { runtimeLogs } = options;
  return async ({ caller, target, request, response }: LogCall<ServiceTarget>) => {
    const { environment, environmentID, serviceID } = target;
    const canRead = stillCanRead(caller, target, options);
    const service = serviceOf(environment, environmentID, serviceID);
    const { follow, ...range } = parse(runtimeLogQuerySchema, request.query, 'the query');
    const followRequest = { environment: keyOf(environment), uid: environment.metadata.uid ?? '', service };
    if (isWebSocketUpgrade(request)) {
      const accepted = acceptViewer({ caller, request, response }, options);
      void streamRuntimeLog(accepted, { environment, followRequest, range, canRead }, options);
      return;
    }
    if (follow === true)
      throw new UpgradeRequired('following a log requires a WebSocket. Connect by WebSocket, or omit ?follow');
    const maxBytes = range.from === undefined ? range.tail * MAX_RUNTIME_MESSAGE_BYTES : MAX_RUNTIME_LOG_BYTES;
    // The pages of the log and the response made from them are in memory at the same time.
    holdAnswer(request, response, 2 * Math.min(maxBytes, MAX_RUNTIME_LOG_BYTES));
    response.setTimeout(MAX_SILENCE_MS);
    const closed = new AbortController();
    response.once('close', () => closed.abort());
    const pages: Buffer[] = [];
    for await (const page of runtimeLogs.read(followRequest, range, closed.signal))
      pages.push(page.bytes, Buffer.from('\n'));
    response.type('application/x-ndjson').send(Buffer.concat(pages));
  };
}

/**
 * Accepts a WebSocket connection, if the caller can follow another log.
 * @throws TooManyRequests, Unavailable, UpgradeRequired
 */
function acceptViewer(
  { caller, request, response }: Pick<LogCall<unknown>, 'caller' | 'request' | 'response'>,
  { viewers, webSockets }: Pick<LogRoutesOptions, 'viewers' | 'webSockets'>,
): AcceptedSocket {
  const release = viewers.take(caller.user.accountId);
  try {
    const accepted = webSockets.accept(request, response);
    accepted.webSocket.once('close', release);
    return accepted;
  } catch (error) {
    release();
    throw error;
  }
}

/** Returns the number of the newest build, including one that has been requested and not started; 0 before the first. */
function newestBuild(environment: Environment): number {
  return Math.max(environment.status?.build?.number ?? 0, currentBuildView(environment)?.number ?? 0);
}

/** Returns whether the caller can still read the log: tokens and memberships can end meanwhile. */
function stillCanRead(
  { credential }: Caller,
  target: EnvironmentTarget,
  { directory, authenticator }: Pick<LogRoutesOptions, 'directory' | 'authenticator'>,
): () => Promise<boolean> {
  return async () => {
    const now = await authenticator.authenticate(credential);
    return now !== undefined && directory.staysVisible(now, target);
  };
}
