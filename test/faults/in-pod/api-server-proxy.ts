// A proxy in a pod between a part of Coppice and the API server, which fails from the first SIGUSR2 on. It runs from a
// ConfigMap, so it must not import anything of this repository.
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';

const account = '/var/run/secrets/kubernetes.io/serviceaccount';
/** `conflicts`: fails the first attempt of each write; `gone`: every watch, repeatedly; `silent`: the open watches. */
const [, , fault = ''] = process.argv;
const watchLifetimeMs = 2000;
const apiServer = {
  host: process.env['KUBERNETES_SERVICE_HOST'],
  port: Number(process.env['KUBERNETES_SERVICE_PORT']),
  ca: readFileSync(`${account}/ca.crt`),
  agent: new https.Agent({ keepAlive: true, timeout: 60_000 }),
};
const refused = new Set<string>();
const watches = new Set<() => void>();
let isInjected = false;

process.on('SIGUSR2', () => {
  isInjected = true;
  for (const fail of watches) fail();
});
process.on('SIGTERM', () => process.exit());

http
  .createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => answer(request, Buffer.concat(chunks), response));
  })
  .listen(8001, '127.0.0.1');

function answer(request: http.IncomingMessage, body: Buffer, response: http.ServerResponse): void {
  const { method = 'GET', url: path = '/' } = request;
  if (isInjected && fault === 'conflicts' && isFirstTry(method, path, body)) {
    console.log(`failed: ${method} ${path}`);
    response.writeHead(409, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify(status(409, 'Conflict', 'the object has been modified; please apply your changes to it')),
    );
    return;
  }
  const authorization = `Bearer ${readFileSync(`${account}/token`, 'utf8')}`;
  const headers = { ...request.headers, host: apiServer.host, authorization };
  const outgoing = https.request({ ...apiServer, method, path, headers }, (incoming) => {
    response.writeHead(incoming.statusCode ?? 502, incoming.headers);
    if (incoming.statusCode === 200 && /[?&]watch=(true|1)\b/.test(path)) passWatch(incoming, response);
    else incoming.pipe(response);
  });
  outgoing.on('error', () => response.destroy());
  response.on('close', () => outgoing.destroy());
  outgoing.end(body);
}

/** Returns whether it is the first of two consecutive writes of one object. */
function isFirstTry(method: string, path: string, body: Buffer): boolean {
  if (method === 'GET') return false;
  const object = method === 'POST' ? (JSON.parse(body.toString()) as { metadata?: { name?: string } }) : {};
  const write = `${method} ${path.split('?')[0] ?? ''} ${object.metadata?.name ?? ''}`;
  if (refused.delete(write)) return false;
  refused.add(write);
  return true;
}

/** Forwards only complete events, so that the last one before the failure can be parsed. */
function passWatch(incoming: http.IncomingMessage, response: http.ServerResponse): void {
  let rest = '';
  let isSilent = false;
  const fail = () => {
    if (fault !== 'conflicts') console.log('failed: a watch');
    if (fault === 'silent') isSilent = true;
    if (fault !== 'gone') return;
    const object = status(410, 'Expired', 'too old resource version');
    response.end(`${JSON.stringify({ type: 'ERROR', object })}\n`);
  };
  const timer = isInjected && fault === 'gone' ? setTimeout(fail, watchLifetimeMs) : undefined;
  watches.add(fail);
  response.on('close', () => {
    watches.delete(fail);
    clearTimeout(timer);
  });
  response.flushHeaders();
  incoming.setEncoding('utf8');
  incoming.on('data', (text: string) => {
    if (isSilent || response.writableEnded) return;
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) response.write(`${line}\n`);
  });
  incoming.on('end', () => {
    if (!isSilent) response.end();
  });
}

function status(code: number, reason: string, message: string): object {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
}
