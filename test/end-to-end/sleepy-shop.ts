/**
 * Returns a page, `/cgi-bin/echo`, which returns the body of a request, `/cgi-bin/runs`, which counts the runs of a job, and
 * `/cgi-bin/stream`, which never ends. The page depends on the service `back` and on the job. It is not served by busybox's
 * httpd, whose CGI resets some connections of requests with a body.
 */
export function sleepyShop(title: string): Record<string, string> {
  return {
    'compose.yaml': `services:
  web:
    build: .
    ports: ['8080:8080']
    volumes: ['data:/data:ro']
    depends_on:
      back: { condition: service_healthy }
      migrate: { condition: service_completed_successfully }
  back:
    build: .
    healthcheck: { test: [CMD, 'true'], interval: 1s }
  migrate:
    build: .
    command: ['sh', '-c', 'echo ran >> /data/runs']
    volumes: ['data:/data']
volumes: { data: {} }
`,
    Dockerfile: 'FROM node:24-slim\nCOPY server.mjs /\nCMD ["node", "/server.mjs"]\n',
    'server.mjs': `import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
process.on('SIGTERM', () => process.exit());
const pages = {
  '/cgi-bin/echo': (request, response) => request.pipe(response),
  '/cgi-bin/runs': (request, response) => response.end(String(readFileSync('/data/runs', 'utf8').trim().split('\\n').length)),
  '/cgi-bin/stream': (request, response) => {
    response.write('tick\\n');
    const timer = setInterval(() => response.write('tick\\n'), 1000);
    response.on('close', () => clearInterval(timer));
  },
  '/': (request, response) => response.end('<h1>${title}</h1>\\n'),
};
createServer((request, response) => {
  const page = pages[request.url];
  if (page) page(request, response);
  else response.writeHead(404).end();
}).listen(8080);
`,
  };
}
