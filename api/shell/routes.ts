import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import { LABELS } from '../../crds/labels.ts';
import { ApiError, isForbidden, isNotFound, UnreachableError } from '../../kubernetes/api-error.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import type { PodStreams } from '../../kubernetes/pod-streams.ts';
import { Pod, type ObjectName } from '../../kubernetes/resource-type.ts';
import { DEFAULT_SHELL } from '../../shell-protocol/default-shell.ts';
import { CLOSE, type StartMessage } from '../../shell-protocol/frames.ts';
import type { Caller } from '../auth/caller.ts';
import type { Directory, EnvironmentTarget } from '../auth/visibility.ts';
import { keepAlive } from '../environments/keepalive.ts';
import { serviceOf } from '../environments/service-of.ts';
import type { SessionAuditor } from '../http/audit-log.ts';
import { streamEndpoint, type Endpoint } from '../http/endpoint.ts';
import { integerField, parse } from '../http/parse.ts';
import type { WebSockets } from '../http/web-sockets.ts';
import type { Viewers } from '../limits/viewers.ts';
import { Unavailable } from '../shared/errors.ts';
import { refusalOf, type ShellSettings } from './admission.ts';
import { namespaceOf, type OpenSessions } from './open-sessions.ts';
import { execProtocol, forwardProtocol } from './pod-protocol.ts';
import { requireAwake, servicePod } from './service-pod.ts';
import { Session } from './session.ts';

export interface ShellRoutesOptions {
  directory: Directory;
  webSockets: Pick<WebSockets, 'accept'>;
  cluster: Pick<ClusterClient, 'list'>;
  podStreams: Pick<PodStreams, 'exec' | 'portForward'>;
  settings: ShellSettings;
  sessions: Pick<OpenSessions, 'add'>;
  /** Limits by account, and by group. */
  accounts: Pick<Viewers, 'take'>;
  groups: Pick<Viewers, 'take'>;
  audit: SessionAuditor;
  /** Interval of the pings. Default 30 s. */
  keepaliveMs?: number | undefined;
  logger: Logger;
}

interface ServiceTarget extends EnvironmentTarget {
  environmentID: string;
  serviceID: string;
}

interface Call {
  caller: Caller;
  target: ServiceTarget;
  request: Request;
  response: Response;
}

const pod = z.string().min(1).max(253).optional();
const execQuery = z.object({ pod: pod.meta({ description: 'A pod of the service; by default a ready one.' }) });
const forwardQuery = z.object({
  port: integerField(1, 65_535).meta({ description: 'The TCP port in the pod.' }),
  pod: pod.meta({ description: 'A pod of the service; by default a ready one.' }),
});

const startTimeoutMs = 10_000;
/** Starting a command costs the node time that no quota counts, so short sessions count for this long. */
const minCountedMs = 2000;

/** Routes into the services of an environment, over WebSockets: commands and shells, and TCP ports. */
export function shellRoutes(options: ShellRoutesOptions): Endpoint[] {
  const { directory } = options;
  const common = {
    // It shows the values of secret variables, and can change all that is stored.
    ...({ method: 'get', writes: true, needs: 'administer' } as const),
    answer: z.string(),
    also: {
      101: 'Response to a WebSocket handshake.',
      409: 'The environment has no contents, it is asleep, or no pod of the service runs.',
      426: 'The session is permitted, but the request is not a WebSocket handshake.',
    },
    find: (caller: Caller, { environmentID, serviceID }: { environmentID: string; serviceID: string }) => ({
      ...directory.environment(caller, environmentID),
      ...{ environmentID, serviceID },
    }),
  };
  return [
    streamEndpoint({
      ...common,
      path: '/api/environment/{environmentID}/services/{serviceID}/exec',
      summary: 'Runs a command or a shell in a container of a service, over a WebSocket (extension)',
      description: 'The first message of the client names the command; see docs/reference/rest-api.md.',
      query: execQuery,
      serve: async (call) => {
        const { pod: named } = parse(execQuery, call.request.query, 'the query');
        await open(call, named, { verb: 'exec' }, options, async (session, at, service) => {
          const start = await session.start(startTimeoutMs);
          return start && exec(session, start, at, service, options);
        });
      },
    }),
    streamEndpoint({
      ...common,
      path: '/api/environment/{environmentID}/services/{serviceID}/port-forward',
      summary: 'Connects to a TCP port of a service, over a WebSocket (extension)',
      query: forwardQuery,
      serve: async (call) => {
        const { port, pod: named } = parse(forwardQuery, call.request.query, 'the query');
        await open(call, named, { verb: 'port-forward', port }, options, async (session, at, service) => {
          const socket = await options.podStreams.portForward(at, port);
          session.connect(socket, forwardProtocol(), { pod: at.name, container: service });
        });
      },
    }),
  ];
}

async function exec(
  session: Session,
  { command = DEFAULT_SHELL, terminal, input }: StartMessage['start'],
  at: ObjectName,
  container: string,
  { podStreams }: Pick<ShellRoutesOptions, 'podStreams'>,
): Promise<void> {
  const socket = await podStreams.exec(at, { container, command, terminal: terminal !== undefined, input });
  session.connect(socket, execProtocol(command), { pod: at.name, container });
  if (terminal) session.resize(terminal);
}

/** Accepts the WebSocket of a permitted session, and audits its start and end. */
async function open(
  { caller, target, request, response }: Call,
  namedPod: string | undefined,
  what: { verb: string; port?: number },
  options: ShellRoutesOptions,
  run: (session: Session, at: ObjectName, service: string) => Promise<void>,
): Promise<void> {
  const { settings, sessions, audit, webSockets, keepaliveMs = 30_000, logger } = options;
  const refusal = refusalOf(target.environment, settings);
  if (refusal) throw refusal;
  const service = serviceOf(target.environment, target.environmentID, target.serviceID);
  const at = await findPod(target, service, namedPod, options);
  const accepted = acceptSession(caller, target, options, () => webSockets.accept(request, response, 'session'));
  const { webSocket, socket } = accepted;
  keepAlive(webSocket, socket, keepaliveMs);
  const session = new Session({ client: webSocket, idleMs: settings.idleMs });
  const startedAt = performance.now();
  const where = { ...what, namespace: at.namespace, pod: at.name, container: service };
  audit(request, response, { event: 'start', ...where });
  session.closed.addEventListener('abort', () => {
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    const { reason, transferred } = session;
    audit(request, response, { event: 'end', ...where, seconds, ...transferred, reason });
  });
  if (!sessions.add({ session, caller, target, environmentID: target.environmentID })) return;
  run(session, at, service).catch((error: unknown) => fail(session, error, logger));
}

/** Counts a session while it is open, and for a minimum time. @throws TooManyRequests, Unavailable, UpgradeRequired */
function acceptSession<Accepted extends { webSocket: WebSocket }>(
  { user }: Caller,
  { group }: EnvironmentTarget,
  { accounts, groups }: Pick<ShellRoutesOptions, 'accounts' | 'groups'>,
  accept: () => Accepted,
): Accepted {
  const releases = [accounts.take(user.accountId)];
  const release = () => releases.forEach((one) => one());
  try {
    releases.push(groups.take(group.metadata.name));
    const accepted = accept();
    const end = performance.now() + minCountedMs;
    accepted.webSocket.once('close', () => void setTimeout(release, Math.max(0, end - performance.now())).unref());
    return accepted;
  } catch (error) {
    release();
    throw error;
  }
}

async function findPod(
  target: EnvironmentTarget,
  service: string,
  named: string | undefined,
  { cluster }: Pick<ShellRoutesOptions, 'cluster'>,
): Promise<ObjectName> {
  requireAwake(target.environment);
  const namespace = namespaceOf(target);
  const { uid = '' } = target.environment.metadata;
  const labelSelector = `${LABELS.environmentUid}=${uid},${LABELS.service}=${service}`;
  try {
    const { items } = await cluster.list(Pod, { namespace, labelSelector, timeoutMs: 5000 });
    return { namespace, name: servicePod(items, service, named) };
  } catch (error) {
    if (!isForbidden(error)) throw error;
    throw new Unavailable('the operator has not granted access to the environment yet. Try again', { cause: error });
  }
}

function fail(session: Session, error: unknown, logger: Logger): void {
  if (isNotFound(error)) {
    session.finish({ failed: { message: 'the pod does not exist any more. Connect again' } });
  } else if (error instanceof ApiError || error instanceof UnreachableError) {
    logger.warn({ err: error }, 'a pod cannot be connected to');
    const message = error instanceof ApiError ? error.statusMessage : 'the cluster did not answer. Try again';
    session.finish({ failed: { message } });
  } else {
    logger.error({ err: error }, 'a shell session failed');
    session.close(CLOSE.failed, 'the session failed. Start it again');
  }
}
