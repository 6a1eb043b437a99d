import { pushRepository } from '../sample/push-repository.ts';

const dockerfile = `FROM node:24-slim
COPY title.txt /app/
# Stands for the work of an ordinary build; it runs again whenever the title changes.
RUN sleep 3
COPY server.mjs /app/
CMD ["node", "/app/server.mjs"]
`;

const server = `import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
createServer((request, response) => response.end(readFileSync('/app/title.txt'))).listen(8080);
process.on('SIGTERM', () => process.exit(0));
`;

const compose = `services:
  web:
    build: .
    ports: ['8080']
`;

const twoServices = `services:
  web:
    build: web
    ports: ['8080']
  api:
    build: api
    expose: ['8080']
`;

/** Pushes two web services with a title each; a changed title means that one image is built. */
export function pushWebAndApi(url: string, branch: string, titles: { web: string; api: string }): Promise<string> {
  const files = Object.entries(titles).flatMap(([name, title]): [string, string][] => [
    [`${name}/Dockerfile`, dockerfile],
    [`${name}/server.mjs`, server],
    [`${name}/title.txt`, title],
  ]);
  return pushRepository({ url, branch, files: { 'compose.yaml': twoServices, ...Object.fromEntries(files) } });
}

/** Pushes a web service that responds with the title; a new title means a new build. */
export function pushWeb(url: string, branch: string, title: string): Promise<string> {
  const files = { Dockerfile: dockerfile, 'server.mjs': server, 'compose.yaml': compose, 'title.txt': title };
  return pushRepository({ url, branch, files });
}
