import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import { objectKey, type KubernetesObject } from '../../kubernetes/resource-type.ts';
import { knownCaller } from '../auth/caller.ts';
import type { ClusterWriter } from '../cluster/caches.ts';
import { endpointOf } from './endpoint.ts';
import { type Change, noteChange, requestContextOf } from '../shared/request-context.ts';

/** Called with a request when it arrives, and with its response when it is complete. */
export type Auditor = (request: Request) => (response: Response) => void;

/** Path of webhook deliveries: their signature represents the repository, not an account. */
const deliveries = '/api/webhooks/';

const reading = ['GET', 'HEAD', 'OPTIONS'];

function outcomeOf({ statusCode, writableFinished }: Response): 'done' | 'refused' | 'failed' | 'abandoned' {
  // A WebSocket is answered on its socket.
  if (!writableFinished && statusCode !== 101) return 'abandoned';
  if (statusCode < 400) return 'done';
  return statusCode < 500 ? 'refused' : 'failed';
}

/** Callers without a login choose paths too, and long ones would displace other lines in the node's log. */
const maxPath = 256;

/** Returns a path as it is logged. */
export function loggedPath(path: string): string {
  return path.slice(0, maxPath);
}

/** What is logged of a request, except for its changes. */
function lineOf({ path, method, ip }: Pick<Request, 'path' | 'method' | 'ip'>, response: Response): object {
  const { user, apiToken, access } = knownCaller(response) ?? {};
  return {
    audit: true,
    requestId: requestContextOf(response.locals).id,
    ...(user && { accountId: user.accountId, email: user.email }),
    ...(user && { credential: apiToken === undefined ? 'login' : 'api-token', access, apiToken }),
    ...(user && { readOnly: access === 'read' }),
    ...(!user && endpointOf(response)?.path.startsWith(deliveries) && { credential: 'webhook' }),
    address: ip,
    method,
    path: loggedPath(path),
    // Absent if the caller is known but the path is wrong.
    endpoint: endpointOf(response)?.path,
    status: response.statusCode,
    outcome: outcomeOf(response),
  };
}

/**
 * Logs one line, marked `audit: true`, for each request that changes or tries to change something: who, from where,
 * what, and the outcome. Never logs a query, a body, a token or a cookie. If the client disconnects, the handler
 * continues, and each later change is logged in a line of its own. Requests without a known caller and refused
 * deliveries are not logged, so that strangers cannot displace other lines.
 */
export function auditLog(logger: Pick<Logger, 'info'>): Auditor {
  return ({ path, method, ip }) => {
    return (response) => {
      const context = requestContextOf(response.locals);
      const log = (changes: Change[]): void =>
        logger.info({ ...lineOf({ path, method, ip }, response), changes }, 'audit');
      context.onLate = (change) => log([change]);
      if (context.changes.length > 0 || (isWrite(method, response) && isOfSomebody(response)))
        log([...context.changes]);
    };
  };
}

/** Logs the start or the end of a session that a request opened: where it leads, never what it transfers. */
export type SessionAuditor = (request: Request, response: Response, session: object) => void;

export function sessionAudit(logger: Pick<Logger, 'info'>): SessionAuditor {
  return (request, response, session) => logger.info({ ...lineOf(request, response), session }, 'audit');
}

/** Returns whether a request is to change something. A WebSocket is always a GET. */
function isWrite(method: string, response: Response): boolean {
  if (!reading.includes(method)) return true;
  const { writes = false, isOpen = false } = endpointOf(response) ?? {};
  // The end of a session has been logged.
  return writes && !isOpen && response.statusCode !== 101;
}

function isOfSomebody(response: Response): boolean {
  if (knownCaller(response)) return true;
  const endpoint = endpointOf(response);
  if (!endpoint) return false;
  return response.statusCode < 400 || !endpoint.path.startsWith(deliveries);
}

/** Returns a cluster that audits every write with the request that caused it. */
export function auditedWriter(cluster: ClusterWriter): ClusterWriter {
  const noted = <T extends KubernetesObject>(verb: 'create' | 'patch', written: T): T => {
    const { kind, metadata } = written;
    noteChange({ verb, kind, key: objectKey(metadata.namespace, metadata.name) });
    return written;
  };
  return {
    exclusively: (type, at, work) => cluster.exclusively(type, at, work),
    find: (type, at, options) => cluster.find(type, at, options),
    create: async (type, object, options) => noted('create', await cluster.create(type, object, options)),
    patch: async (type, at, patch, options) => noted('patch', await cluster.patch(type, at, patch, options)),
    delete: async (type, at, options) => {
      await cluster.delete(type, at, options);
      noteChange({ verb: 'delete', kind: type.kind, key: objectKey(at.namespace, at.name) });
    },
  };
}
