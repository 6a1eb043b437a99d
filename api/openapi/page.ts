import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import express, { type Router } from 'express';
import { StaticText } from '../http/static-text.ts';

const { resolve } = createRequire(import.meta.url);

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Coppice: the REST API</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/api/docs/swagger-ui.css">
  </head>
  <body>
    <div id="page"></div>
    <script src="/api/docs/swagger-ui-bundle.js"></script>
    <script src="/api/docs/start.js"></script>
  </body>
</html>
`;

// Disables the validator, which would send the document to another server. The page does not store an entered token.
const start = `SwaggerUIBundle({
  url: '/api/openapi.json',
  dom_id: '#page',
  deepLinking: true,
  docExpansion: 'list',
  validatorUrl: null,
});
`;

/** Serves a page to read and try the OpenAPI document, without inline scripts or resources of other origins. */
export function docsPage(): Router {
  const router = express.Router();
  const serve = (path: string, text: StaticText) =>
    router.get(path, (request, response) => text.send(request, response));
  serve('/', new StaticText('html', () => Buffer.from(page)));
  serve('/start.js', new StaticText('js', () => Buffer.from(start)));
  for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js']) {
    serve(`/${file}`, new StaticText(extname(file), () => readFile(resolve(`swagger-ui-dist/${file}`))));
  }
  return router;
}
