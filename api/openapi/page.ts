import { createRequire } from 'node:module';
import express, { type Router } from 'express';

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
  router.get('/', (_request, response) => {
    response.type('html').send(page);
  });
  router.get('/start.js', (_request, response) => {
    response.type('js').send(start);
  });
  for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js']) {
    router.get(`/${file}`, (_request, response) => response.sendFile(resolve(`swagger-ui-dist/${file}`)));
  }
  return router;
}
