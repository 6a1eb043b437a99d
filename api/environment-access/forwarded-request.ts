import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { ACCESS_HEADER } from '../../environment-access/tokens.ts';

/** A request to an environment, as the Ingress controller describes it. */
export interface ForwardedRequest {
  method: string;
  /** In lower case, without port. */
  host: string;
  /** Path and query. */
  uri: string;
  isUpgrade: boolean;
  acceptsHtml: boolean;
  cookies: string | undefined;
  token: string | undefined;
  origin: string | undefined;
  referer: string | undefined;
  /** Fetch metadata: https://www.w3.org/TR/fetch-metadata/. Absent from programs, and over plain HTTP. */
  fetchSite: string | undefined;
  fetchMode: string | undefined;
  fetchDest: string | undefined;
}

/** Returns the request that Traefik describes; undefined if its headers are missing or not valid. */
export function forwardedRequest(headers: IncomingHttpHeaders): ForwardedRequest | undefined {
  return described(headers, {
    host: oneOf(headers, 'x-forwarded-host'),
    method: oneOf(headers, 'x-forwarded-method'),
    uri: oneOf(headers, 'x-forwarded-uri'),
  });
}

/**
 * Returns the request that ingress-nginx describes; undefined if its headers are missing or not valid. It passes on the
 * client's `X-Forwarded-` headers, which therefore count for nothing. The host is the client's Host header, while nginx
 * routes by the request line if that names a host.
 */
export function originalRequest(headers: IncomingHttpHeaders): ForwardedRequest | undefined {
  const [, host, uri] = /^https?:\/\/([^/?#]*)(\/.*)$/.exec(oneOf(headers, 'x-original-url') ?? '') ?? [];
  return described(headers, { host, method: oneOf(headers, 'x-original-method'), uri });
}

/** Returns a request that an Ingress has led here as it is; undefined if it is not valid. */
export function directRequest({ headers, method, url: uri }: IncomingMessage): ForwardedRequest | undefined {
  return described(headers, { host: headers.host, method, uri });
}

function oneOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

function described(
  headers: IncomingHttpHeaders,
  { host: hostHeader, method, uri }: Record<'host' | 'method' | 'uri', string | undefined>,
): ForwardedRequest | undefined {
  const one = (name: string) => oneOf(headers, name);
  const host = hostOf(hostHeader);
  if (host === undefined || method === undefined || uri === undefined || !uri.startsWith('/')) return undefined;
  return {
    ...{ method, host, uri },
    // The Ingress controller removes the headers Connection and Upgrade, which are of one connection only.
    isUpgrade: one('sec-websocket-key') !== undefined,
    acceptsHtml: /\btext\/html\b/.test(one('accept') ?? ''),
    cookies: one('cookie'),
    token: one(ACCESS_HEADER),
    origin: one('origin'),
    referer: one('referer'),
    fetchSite: one('sec-fetch-site'),
    fetchMode: one('sec-fetch-mode'),
    fetchDest: one('sec-fetch-dest'),
  };
}

/** Returns a Host header's host as the Ingress controller compares it; undefined if it is none of ours. */
function hostOf(header: string | undefined): string | undefined {
  const [, host] = /^([a-z0-9.-]{1,253}?)\.?(?::\d{1,5})?$/.exec(header?.trim().toLowerCase() ?? '') ?? [];
  return host;
}

/** Returns whether a browser requests this to show it as a page, so that it can be sent to another one first. */
export function isNavigation({ method, isUpgrade, acceptsHtml, fetchMode }: ForwardedRequest): boolean {
  if (isUpgrade || (method !== 'GET' && method !== 'HEAD')) return false;
  return fetchMode === undefined ? acceptsHtml : fetchMode === 'navigate';
}

/**
 * Returns whether a request with a cookie comes from a page of the environment itself, or is a page that the visitor
 * opens. Environments are of one site for browsers: without this check, a page of any environment could use the visitor's
 * access to all others, embed them, and read their scripts.
 */
export function isFromEnvironment(request: ForwardedRequest, isOwnHost: (host: string) => boolean): boolean {
  const { method, origin, referer, fetchSite, fetchDest } = request;
  if (fetchSite === 'same-origin' || fetchSite === 'none') return true;
  const isOpened = isNavigation(request) && (fetchDest === undefined || fetchDest === 'document');
  if (isOpened && origin === undefined) return true;
  const source = origin ?? referer;
  if (source !== undefined) return isOwnHost(URL.parse(source)?.hostname ?? '');
  return fetchSite === undefined && !request.isUpgrade && (method === 'GET' || method === 'HEAD');
}
