import type { RequestHandler } from 'express';
import { Counter, Histogram, type Registry } from 'prom-client';

/** Media type of server-sent events. */
export const EVENT_STREAM = 'text/event-stream; charset=utf-8';

const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Counts and times requests by route, never by ID. A WebSocket or event stream is counted when it closes, and not timed. */
export function requestMetrics(registry: Registry, now: () => number): RequestHandler {
  const registers = [registry];
  const labelNames = ['method', 'route', 'status'];
  const requests = new Counter({
    name: 'coppice_api_requests_total',
    help: 'Requests answered',
    labelNames,
    registers,
  });
  const seconds = new Histogram({
    name: 'coppice_api_request_duration_seconds',
    help: 'Duration of a request until the end of its response',
    labelNames: ['method', 'route'],
    buckets,
    registers,
  });
  return (request, response, next) => {
    const started = now();
    response.once('close', () => {
      const { path } = (request.route ?? {}) as { path?: unknown };
      const route = typeof path === 'string' ? path : 'none';
      requests.inc({ method: request.method, route, status: response.statusCode });
      const isStream = response.statusCode === 101 || response.getHeader('content-type') === EVENT_STREAM;
      if (!isStream) seconds.observe({ method: request.method, route }, (now() - started) / 1000);
    });
    next();
  };
}
