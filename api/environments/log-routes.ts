import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import type { LogReader } from '../../build-logs/reader.ts';
import type { Environment } from '../../crds/environment.ts';
import { keyOf } from '../../kubernetes/resource-type.ts';
import type { Authenticator } from '../auth/authenticate.ts';
import { callerOf } from '../auth/caller.ts';
import type { Directory } from '../auth/directory.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { NotFound, UpgradeRequired } from '../http/errors.ts';
import { parse } from '../http/parse.ts';
import { isWebSocketUpgrade, type WebSockets } from '../http/web-sockets.ts';
import { logQuerySchema, runtimeLogQuerySchema } from './environment-parameters.ts';
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

/**
 * Logs: streams over WebSockets, and what there is of them to plain requests. Their parameters are ours: `?build=` names
 * a build by its number, `?from=` takes a log up again; and so are the logs of services.
 */
export function logRoutes(dependencies: LogRoutes): Endpoint[] {
  const followed = { method: 'get', isOpen: false, writes: false, answer: z.string() } as const;
  return [
    {
      ...followed,
      path: '/api/environment/{environmentID}/build/logs',
      summary: "A build's log: a WebSocket that follows it, or what there is of it as text",
      query: logQuerySchema,
      mediaType: 'text/plain',
      also: { 101: 'To a WebSocket handshake.', 426: 'The handshake is not valid.' },
      handle: buildLog(dependencies),
    },
    {
      ...followed,
      path: '/api/environment/{environmentID}/services/{serviceID}/logs',
      summary: "A service's log: a WebSocket that follows it, or the last lines (ours)",
      description: 'Without a WebSocket each line is a JSON object.',
      query: runtimeLogQuerySchema,
      mediaType: 'application/x-ndjson',
      also: { 101: 'To a WebSocket handshake.', 426: 'The handshake is not valid, or `follow` is asked without one.' },
      handle: serviceLog(dependencies),
    },
  ];
}

function buildLog(dependencies: LogRoutes): RequestHandler {
  const { webSockets, reader } = dependencies;
  return async (request, response) => {
    const { environment, mayRead } = findLog(request, response, dependencies);
    const { build, from } = parse(logQuerySchema, request.query, 'the query');
    if (build !== undefined && build > (environment.status?.build?.number ?? 0)) throw new NotFound('no such build');
    if (!isWebSocketUpgrade(request)) {
      await answerLogText(request, response, { environment, build, from }, reader);
      return;
    }
    void streamLog(webSockets.accept(request, response), { environment, build, from, mayRead }, dependencies);
  };
}

function serviceLog(dependencies: LogRoutes): RequestHandler {
  const { webSockets, runtimeLogs } = dependencies;
  return async (request, response) => {
    const { environment, mayRead } = findLog(request, response, dependencies);
    const { environmentID, serviceID } = request.params as { environmentID: string; serviceID: string };
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

/** What both have in common: the environment, if the caller may see it, and whether they still may. */
function findLog(
  request: Request,
  response: Response,
  { directory, authenticator }: Pick<LogRoutes, 'directory' | 'authenticator'>,
): { environment: Environment; mayRead: () => Promise<boolean> } {
  const caller = callerOf(response);
  const { group, environment } = directory.environment(caller.user, String(request.params['environmentID']));
  const mayRead = async () => {
    const now = await authenticator.authenticate(caller.credential);
    return (
      now !== undefined && directory.groups(now.user).some(({ metadata }) => metadata.name === group.metadata.name)
    );
  };
  return { environment, mayRead };
}
