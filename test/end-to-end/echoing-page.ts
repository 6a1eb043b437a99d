import { stringify } from 'yaml';

/** Answers with what it has received, upgrades any WebSocket, and reaches the service beside it. */
const server = `
const { createServer } = require('node:http');
const { createHash } = require('node:crypto');
const page = '<!doctype html><title>Echo</title><h1>Open all day</h1>';
const echo = createServer(async (request, response) => {
  if (request.url.startsWith('/page')) return response.setHeader('content-type', 'text/html').end(page);
  const beside = request.url === '/beside' ? await fetch('http://api:8080/').then(({ status }) => status) : undefined;
  const { method, url, headers } = request;
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ method, url, headers, beside }));
});
echo.on('upgrade', ({ headers }, socket) => {
  const key = headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
  const accept = createHash('sha1').update(key).digest('base64');
  socket.end('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: ' + accept + '\\r\\n\\r\\n');
});
echo.listen(8080);
process.on('SIGTERM', () => process.exit(0));
`;

/** Returns a repository with a public service, an alias, and tests of the page. Nothing is built. */
export function echoingPage(): Record<string, string> {
  // In Compose, $ starts a variable.
  const service = { image: 'node:24-slim', command: ['node', '-e', server.replaceAll('$', '$$$$')] };
  const publicAs = (more: object) => ({ 'x-coppice': { public: [{ port: 8080, ...more }] } });
  return {
    'compose.yaml': stringify({
      services: {
        web: { ...service, ports: ['8080:8080'], ...publicAs({}) },
        api: { ...service, expose: ['8080'], ...publicAs({ alias: 'api' }) },
      },
      'x-coppice': {
        tests: [
          { name: 'home', type: 'http', params: { paths: [{ path: '/page', text: 'Open all day' }] } },
          { name: 'looks', type: 'page', params: { path: '/page', text: 'Open all day' } },
        ],
      },
    }),
  };
}
