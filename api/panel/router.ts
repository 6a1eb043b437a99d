import express, { type Request, type RequestHandler, type Response, type Router } from 'express';
import { sendBytes } from '../limits/held-memory.ts';
import { ENCODINGS, type PanelFile, type PanelFiles } from './panel-files.ts';

/** Paths of pages. The browser's script decides what they show, so each returns the same document. */
export const PAGE_PATHS = [
  '/',
  '/sign-in',
  '/sign-in/device',
  '/sign-in/command-line',
  '/register',
  '/invitation',
  '/access',
  '/account',
  '/administration',
  '/groups/:group',
  '/repositories/:repository',
  '/environments/:environment',
];

/** Everything of the panel's own origin, nothing of another one, and nothing inline. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const aYear = 365 * 24 * 3600;

/** Serves the panel: its document at the pages' paths, and its files by their hashed names. */
export function panelRouter({ index, assets }: PanelFiles): Router {
  const router = express.Router({ caseSensitive: true });
  router.get(PAGE_PATHS, (request, response) => {
    sendFile(request, response, index, { 'Cache-Control': 'no-cache' });
  });
  router.get('/assets/:name', (request, response, next) => {
    const file = assets.get(request.params.name);
    // After an upgrade a page that is still open asks for files of the previous version.
    if (!file) next();
    else sendFile(request, response, file, { 'Cache-Control': `public, max-age=${aYear}, immutable` });
  });
  return router;
}

/** Shows people that there is no such page; a program gets the error of the API. */
export function unknownPage({ index }: PanelFiles): RequestHandler {
  return (request, response, next) => {
    const isPage = !/^\/(?:api|assets|cli)(?:\/|$)/.test(request.path);
    // Without a preference, JSON comes first.
    if (request.method !== 'GET' || !isPage || request.accepts(['json', 'html']) !== 'html') next();
    else sendFile(request, response.status(404), index, { 'Cache-Control': 'no-store' });
  };
}

function sendFile(
  request: Request,
  response: Response,
  { type, bytes }: PanelFile,
  headers: Readonly<Record<string, string>>,
): void {
  const accepted = request.acceptsEncodings(...ENCODINGS);
  const encoding = ENCODINGS.find((one) => one === accepted) ?? 'identity';
  response.type(type);
  sendBytes(request, response, bytes[encoding], {
    ...headers,
    'Content-Security-Policy': contentSecurityPolicy,
    Vary: 'Accept-Encoding',
    ...(encoding !== 'identity' && { 'Content-Encoding': encoding }),
  });
}
