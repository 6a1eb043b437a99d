import type { Request, Response } from 'express';
import { z } from 'zod';
import type { LogReader } from '../../build-logs/reader.ts';
import type { Environment } from '../../crds/environment.ts';
import { keyOf } from '../../kubernetes/resource-type.ts';
import type { Authenticator } from '../auth/authenticate.ts';
import type { Caller } from '../auth/caller.ts';
import type { Directory, EnvironmentTarget } from '../auth/directory.ts';
import { streamEndpoint, type Endpoint } from '../http/endpoint.ts';
import { NotFound, UpgradeRequired } from '../http/errors.ts';
import { parse } from '../http/parse.ts';
import { isWebSocketUpgrade, type WebSockets } from '../http/web-sockets.ts';
import { logStreamQuerySchema, runtimeLogQuerySchema } from './environment-parameters.ts';
import { type LogStreamDependencies, streamLog } from './log-stream.ts';
import { streamRuntimeLog } from './runtime-log-stream.ts';
import { answerLogText } from './log-text.ts';
import type { RuntimeLogs } from './runtime-logs.ts';

export interface LogRoutes extends LogStreamDependencies {
  directory: Directory;
  authenticator: Authenticator;
  webSockets: WebSockets;
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
 * Logs: streams over WebSockets, and what there is of them to plain requests. Their parameters are ours: `?build=` names
 * a build by its number, `?from=` takes a log up again; and so are the logs of services.
 */
export function logRoutes(dependencies: LogRoutes): Endpoint[] {
  const { directory } = dependencies;
  const followed = { method: 'get', writes: false, answer: z.string() } as const;
  return [
    streamEndpoint({
      ...followed,
      path: '/api/environment/{environmentID}/build/logs',
      summary: "A build's log: a WebSocket that follows it, or what there is of it as text",
      query: logStreamQuerySchema,
      mediaType: 'text/plain',
      also: { 101: 'To a WebSocket handshake.', 426: 'The handshake is not valid.' },
      find: (caller, { environmentID }) => directory.environment(caller, environmentID),
      serve: buildLog(dependencies),
    }),
    streamEndpoint({
      ...followed,
      path: '/api/environment/{environmentID}/services/{serviceID}/logs',
      summary: "A service's log: a WebSocket that follows it, or the last lines (ours)",
      description: 'Without a WebSocket each line is a JSON object.',
      query: runtimeLogQuerySchema,
      mediaType: 'application/x-ndjson',
      also: { 101: 'To a WebSocket handshake.', 426: 'The handshake is not valid, or `follow` is asked without one.' },
      find: (caller, { environmentID, serviceID }) => ({
        ...directory.environment(caller, environmentID),
        environmentID,
        serviceID,
      }),
      serve: serviceLog(dependencies),
    }),
  ];
}

function buildLog(dependencies: LogRoutes) {
  const { webSockets, reader } = dependencies;
  return async ({ caller, target, request, response }: LogCall<EnvironmentTarget>) => {
    const { environment } = target;
    const mayRead = stillMayRead(caller, target, dependencies);
    const { build, from, header } = parse(logStreamQuerySchema, request.query, 'the query');
    if (build !== undefined && build > (environment.status?.build?.number ?? 0)) throw new NotFound('no such build');
    if (!isWebSocketUpgrade(request)) {
      await answerLogText(request, response, { environment, build, from }, reader);
      return;
    }
    const accepted = webSockets.accept(request, response);
    void streamLog(accepted, { environment, build, from, header, mayRead }, dependencies);
  };
}

function serviceLog(dependencies: LogRoutes) {
  const { webSockets, runtimeLogs } = dependencies;
  return async ({ caller, target, request, response }: LogCall<ServiceTarget>) => {
    const { environment, environmentID, serviceID } = target;
    const mayRead = stillMayRead(caller, target, dependencies);
    const service = serviceOf(environment, environmentID, serviceID);
    if (service === undefined) throw new NotFound('no such service');
    const { follow, ...range } = parse(runtimeLogQuerySchema, request.query, 'the query');
    const wish = { environment: keyOf(environment), uid: environment.metadata.uid ?? '', service };
    if (isWebSocketUpgrade(request)) {
      const accepted = webSockets.accept(request, response);
      void streamRuntimeLog(accepted, { environment, wish, range, mayRead }, dependencies);
      return;
    }
    if (follow === true) throw new UpgradeRequired('a log is followed over a WebSocket');
    const closed = new AbortController();
    response.once('close', () => closed.abort());
    const pages: Buffer[] = [];
    for await (const page of runtimeLogs.read(wish, range, closed.signal)) pages.push(page.bytes, Buffer.from('\n'));
    response.type('application/x-ndjson').send(Buffer.concat(pages));
  };
}

/** The name of a service that is named by its id, as the environment's view gives it, or by its name alone. */
function serviceOf({ status }: Environment, environmentId: string, given: string): string | undefined {
  const names = (status?.services ?? []).map(({ name }) => name);
  return names.find((name) => name === given) ?? names.find((name) => `${environmentId}.${name}` === given);
}

/** Whether the caller still may read what they were let in to: tokens end, memberships too. */
function stillMayRead(
  { credential }: Caller,
  target: EnvironmentTarget,
  { directory, authenticator }: Pick<LogRoutes, 'directory' | 'authenticator'>,
): () => Promise<boolean> {
  return async () => {
    const now = await authenticator.authenticate(credential);
    return now !== undefined && directory.staysVisible(now, target);
  };
}
