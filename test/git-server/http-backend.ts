import { spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Longer than the Ingress controller keeps idle connections: a POST on a connection that is being closed gets 502. In
 * milliseconds.
 */
export const KEEP_ALIVE_MS = 120_000;

const headerEnd = Buffer.from('\r\n\r\n');

/** Handles one request with `git http-backend`, Git's CGI program for its smart HTTP protocol. */
export function serveByHttpBackend(request: IncomingMessage, response: ServerResponse, root: string, url: URL): void {
  const header = (name: string): string => {
    const value = request.headers[name];
    return typeof value === 'string' ? value : '';
  };
  const child = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env.PATH ?? '',
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      REQUEST_METHOD: request.method ?? 'GET',
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: header('content-type'),
      ...(header('content-length') && { CONTENT_LENGTH: header('content-length') }),
      HTTP_CONTENT_ENCODING: header('content-encoding'),
      GIT_PROTOCOL: header('git-protocol'),
      REMOTE_ADDR: request.socket.remoteAddress ?? '',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const fail = (error: Error): void => {
    console.error(`${request.method ?? ''} ${url.pathname}: ${error.message}`);
    if (!response.headersSent) response.writeHead(500);
    response.end();
  };
  child.on('error', fail);
  child.stdin.on('error', (error) => {
    console.error(`${url.pathname}: git http-backend ended early: ${error.message}`);
    request.resume(); // The rest of the body must still be read.
  });
  request.pipe(child.stdin);
  response.on('close', () => child.kill());
  // Git sends its response header immediately; a proxy written in Go, like most Ingress controllers, loses the rest of
  // the request's body if the response starts before its end.
  child.stdout.pause();
  request.on('end', () => child.stdout.resume());

  let head: Buffer | undefined = Buffer.alloc(0);
  child.stdout.on('data', (chunk: Buffer) => {
    if (head === undefined) {
      if (!response.write(chunk)) {
        child.stdout.pause();
        response.once('drain', () => child.stdout.resume());
      }
      return;
    }
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf(headerEnd);
    if (end < 0) return;
    writeHead(response, head.subarray(0, end).toString('latin1'));
    response.write(head.subarray(end + headerEnd.length));
    head = undefined;
  });
  child.on('close', (code) => {
    if (head === undefined) response.end();
    else fail(new Error(`git http-backend gave no answer (exit code ${code ?? 'none'})`));
  });
}

/** Writes the head of a CGI response: header lines, including `Status: 404 Not Found`. */
function writeHead(response: ServerResponse, head: string): void {
  let status = 200;
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1).trim();
    if (name.toLowerCase() === 'status') status = Number.parseInt(value);
    else response.setHeader(name, value);
  }
  response.writeHead(status);
}
